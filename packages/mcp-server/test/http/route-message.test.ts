import { readMessage } from "@berth/jsonrpc-framing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { HttpRefusal } from "../../src/http/refusals.js";
import { routeMessage } from "../../src/http/route-message.js";
import { legacyRevisions, modernRevisions, type ServedRevisions } from "../../src/protocol.js";

const served: ServedRevisions = { legacy: legacyRevisions, modern: modernRevisions };
const version = fc.constantFrom("2026-07-28", "2025-11-25", "2099-01-01", "", 1, null, undefined);
const header = fc.constantFrom("2026-07-28", " 2026-07-28 ", "2025-11-25", "2099-01-01", "", undefined);
const method = fc.constantFrom("initialize", "ping", "tools/call", "notifications/cancelled", "none", "__proto__");
const message = (id: number | undefined, name: string, key: unknown): unknown => {
  const _meta = key === undefined ? {} : { "io.modelcontextprotocol/protocolVersion": key };
  return { jsonrpc: "2.0", ...(id === undefined ? {} : { id }), method: name, params: { _meta } };
};
const route = (value: unknown, told: string | undefined, revisions = served): string | number => {
  try {
    return routeMessage(readMessage(value), told, revisions);
  } catch (error) {
    if (error instanceof HttpRefusal) return error.status;
    throw error;
  }
};

it("a request is of the era that its body says, whatever its header and its method; a header can only refuse it", () => {
  fc.assert(
    fc.property(method, version, header, (name, key, told) => {
      const isNamed = told?.trim() === "2026-07-28";
      const expected = key !== undefined ? "modern-request" : isNamed ? 400 : "legacy";
      expect(route(message(1, name, key), told)).toBe(expected);
    }),
  );
});

it("a notification is of the era of its body, else of its header's", () => {
  fc.assert(
    fc.property(method, version, header, (name, key, told) => {
      const isNamed = told?.trim() === "2026-07-28";
      const fromHeader = isNamed ? "modern-notification" : "legacy";
      const fromBody = key === "2026-07-28" && isNamed ? "modern-notification" : 400;
      expect(route(message(undefined, name, key), told)).toBe(key === undefined ? fromHeader : fromBody);
    }),
  );
});

it("answers of a client belong to sessions, and without sessions to nobody", () => {
  for (const told of ["2026-07-28", "2025-11-25", undefined]) {
    for (const value of [
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 1, error: { code: 1, message: "" } },
    ]) {
      expect(route(value, told)).toBe("legacy");
      expect(route(value, told, { legacy: [], modern: modernRevisions })).toBe(400);
    }
  }
});
