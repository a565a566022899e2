import { describe, expect, it } from "vitest";
import {
  decideEra,
  EraError,
  type EraQuestion,
  isEraError,
  legacyRevisions,
  modernRevisions,
  type ServedRevisions,
} from "../src/protocol.js";

const both: ServedRevisions = { legacy: legacyRevisions, modern: modernRevisions };
const legacyOnly: ServedRevisions = { legacy: legacyRevisions, modern: [] };
const modernOnly: ServedRevisions = { legacy: [], modern: modernRevisions };
const modern = { metaVersion: "2026-07-28", hasClientCapabilities: true };
const decide = (question: Partial<EraQuestion>, served: ServedRevisions) => {
  try {
    return decideEra({ method: "tools/list", initialized: false, ...question }, served);
  } catch (error) {
    if (!isEraError(error)) throw error;
    return { code: error.code, wire: error.wire.code };
  }
};

// MCP 2026-07-28, Transports § Backward compatibility: the rules for a server, per message.
describe("the era of a message", () => {
  it.each([
    {
      name: "a request with both keys",
      question: modern,
      served: both,
      decision: { era: "modern", revision: "2026-07-28" },
    },
    {
      name: "the same after initialize",
      question: { ...modern, initialized: true },
      served: both,
      decision: { era: "modern", revision: "2026-07-28" },
    },
    {
      name: "server/discover with both keys",
      question: { ...modern, method: "server/discover" },
      served: both,
      decision: { era: "modern", revision: "2026-07-28" },
    },
    {
      name: "initialize with the key",
      question: { ...modern, method: "initialize" },
      served: both,
      decision: { code: "METHOD_UNKNOWN", wire: -32601 },
    },
    {
      name: "an unknown version",
      question: { ...modern, metaVersion: "2099-01-01" },
      served: both,
      decision: { code: "REVISION_UNSUPPORTED", wire: -32022 },
    },
    {
      name: "a legacy version in the key",
      question: { ...modern, metaVersion: "2025-11-25" },
      served: both,
      decision: { code: "REVISION_UNSUPPORTED", wire: -32022 },
    },
    {
      name: "a version that is no string",
      question: { ...modern, metaVersion: 7 },
      served: both,
      decision: { code: "META_INCOMPLETE", wire: -32602 },
    },
    {
      name: "a version that is null",
      question: { ...modern, metaVersion: null },
      served: both,
      decision: { code: "META_INCOMPLETE", wire: -32602 },
    },
    {
      name: "no client capabilities",
      question: { metaVersion: "2026-07-28" },
      served: both,
      decision: { code: "META_INCOMPLETE", wire: -32602 },
    },
    {
      name: "initialize without the key",
      question: { method: "initialize" },
      served: both,
      decision: { era: "legacy" },
    },
    { name: "anything after initialize", question: { initialized: true }, served: both, decision: { era: "legacy" } },
    { name: "ping before initialize", question: { method: "ping" }, served: both, decision: { era: "legacy" } },
    {
      name: "anything else before initialize",
      question: {},
      served: both,
      decision: { code: "NOT_INITIALIZED", wire: -32602 },
    },
    {
      name: "initialize at a modern-only server",
      question: { method: "initialize" },
      served: modernOnly,
      decision: { code: "META_INCOMPLETE", wire: -32602 },
    },
    {
      name: "a modern request at a legacy-only server",
      question: modern,
      served: legacyOnly,
      decision: { code: "REVISION_UNSUPPORTED", wire: -32022 },
    },
    {
      name: "a probe at a legacy-only server",
      question: { ...modern, method: "server/discover" },
      served: legacyOnly,
      decision: { code: "METHOD_UNKNOWN", wire: -32601 },
    },
    {
      name: "a bare probe at a legacy-only server",
      question: { method: "server/discover" },
      served: legacyOnly,
      decision: { code: "METHOD_UNKNOWN", wire: -32601 },
    },
  ] as const)("is decided from the message alone: $name", ({ question, served, decision }) => {
    expect(decide(question, served)).toEqual(decision);
  });

  it("that is refused names the revisions that are served", () => {
    const thrown = (question: EraQuestion, served: ServedRevisions): EraError => {
      try {
        decideEra(question, served);
      } catch (error) {
        if (isEraError(error)) return error;
      }
      throw new Error("nothing was thrown");
    };
    const unsupported = thrown({ method: "x", metaVersion: "2099-01-01", initialized: false }, both);
    // The same list as `server/discover` gives: a client repeats its request with one of them.
    expect(unsupported.wire.data).toEqual({ supported: modernRevisions, requested: "2099-01-01" });
    expect(unsupported.message).toContain("2025-11-25");
    const legacy = thrown({ method: "x", metaVersion: "2099-01-01", initialized: false }, legacyOnly);
    expect(legacy.wire.data).toEqual({ supported: legacyRevisions, requested: "2099-01-01" });
    expect(thrown({ method: "x", initialized: false }, legacyOnly).message).toContain("2025-11-25");
    expect(thrown({ method: "x", initialized: false }, both).message).toContain(
      "io.modelcontextprotocol/protocolVersion",
    );
    expect(thrown({ method: "initialize", initialized: false }, modernOnly).message).toContain("2026-07-28");
  });
});

describe("isEraError", () => {
  it("knows the error of another copy of the package, and no other", () => {
    const copy = Object.assign(new Error("x"), { name: "EraError", code: "META_INCOMPLETE" });
    expect([isEraError(copy), isEraError(new EraError("META_INCOMPLETE", "x", { code: -32602 }))]).toEqual([
      true,
      true,
    ]);
    expect([isEraError(new Error("x")), isEraError(undefined), isEraError({ name: "EraError", code: "x" })]).toEqual([
      false,
      false,
      false,
    ]);
  });
});
