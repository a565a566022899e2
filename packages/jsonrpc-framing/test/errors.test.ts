import { describe, expect, it } from "vitest";
import { FramingError, type FramingErrorCode, isFramingError, wireErrors } from "../src/index.js";

describe("FramingError", () => {
  it("is recognised from another installed copy", () => {
    class FramingErrorOfAnotherCopy extends Error {
      override readonly name = "FramingError";
      readonly code = "FRAME_TOO_LARGE";
    }
    expect(isFramingError(new FramingErrorOfAnotherCopy())).toBe(true);
    expect(isFramingError(new FramingError("FRAME_TOO_LARGE", ""))).toBe(true);
    for (const other of [new Error("FramingError"), { name: "FramingError", code: "X" }, null, "FramingError"]) {
      expect(isFramingError(other)).toBe(false);
    }
  });

  it("keeps its cause, and has none when none was given", () => {
    const cause = new Error("first");
    expect(new FramingError("FRAME_NOT_JSON", "", { cause }).cause).toBe(cause);
    expect(Object.hasOwn(new FramingError("FRAME_NOT_JSON", ""), "cause")).toBe(false);
  });

  it.each<[number, FramingErrorCode[]]>([
    [wireErrors.parse, ["FRAME_NOT_UTF8", "FRAME_HAS_BOM", "FRAME_NOT_JSON"]],
    [
      wireErrors.invalidRequest,
      [
        "FRAME_TOO_LARGE",
        "BATCH_REFUSED",
        "MESSAGE_INVALID",
        "ID_INVALID",
        "JSON_TOO_DEEP",
        "DUPLICATE_KEY",
        "PROTO_KEY",
      ],
    ],
    [wireErrors.invalidParams, ["PARAMS_INVALID"]],
    [
      wireErrors.internal,
      ["STREAM_TRUNCATED", "HEADER_INVALID", "HEADER_TOO_LARGE", "FRAME_HAS_NEWLINE", "TOO_MANY_ITEMS", "CALL_TIMEOUT"],
    ],
    [wireErrors.internal, ["CALL_ID_IN_USE", "TOO_MANY_CALLS", "CALLS_CLOSED"]],
  ])("has the wire code %i for %j", (wireCode, codes) => {
    for (const code of codes) expect(new FramingError(code, "").wireCode).toBe(wireCode);
  });

  it("has the numbers of JSON-RPC 2.0 § 5.1", () => {
    expect(wireErrors).toEqual({
      parse: -32700,
      invalidRequest: -32600,
      methodNotFound: -32601,
      invalidParams: -32602,
      internal: -32603,
    });
  });
});
