import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalDefinition, compareDefinitions, definitionDigest, readDefinition } from "../src/index.js";

const definition = (name: string, more: object = {}) =>
  readDefinition(JSON.stringify({ name, description: "reads", inputSchema: { type: "object" }, ...more }), "name");
const pinsOf = (...definitions: readonly ReturnType<typeof definition>[]) =>
  Object.fromEntries(definitions.map(({ name, digest, definition: text }) => [name, { digest, definition: text }]));

describe("canonical definitions", () => {
  it("are what RFC 8785 gives, for objects whose numbers are integers", () => {
    const json = fc.dictionary(
      fc.string({ unit: "grapheme" }),
      fc.letrec((tie) => ({
        value: fc.oneof(
          { maxDepth: 4 },
          fc.string({ unit: "grapheme" }),
          fc.integer(),
          fc.boolean(),
          fc.constant(null),
          fc.array(tie("value")),
          fc.dictionary(fc.string({ unit: "grapheme" }), tie("value")),
        ),
      })).value,
    );
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalDefinition(JSON.stringify(value, undefined, 2))).toBe(canonicalize(value));
      }),
    );
  });

  it("keep number literals as they were written", () => {
    const text = '{"b":1.0,"a":[1,1e0,12345678901234567890,-0.0]}';
    expect(canonicalDefinition(text)).toBe('{"a":[1,1e0,12345678901234567890,-0.0],"b":1.0}');
  });

  it("do not depend on the order of members, white space or the spelling of strings", () => {
    expect(canonicalDefinition(' { "b" : "\\u0041\\/" , "a" : { } } ')).toBe(canonicalDefinition('{"a":{},"b":"A/"}'));
  });

  it.each([
    { name: "a member twice", json: '{"a":1,"a":1}' },
    { name: "a member twice in different spelling", json: '{"a":1,"\\u0061":2}' },
    { name: "no object", json: "[]" },
    { name: "text after the end", json: "{} x" },
    { name: "a comma too many", json: '{"a":1,}' },
    { name: "a bad escape", json: '{"a":"\\x"}' },
    { name: "a raw control character", json: '{"a":"\n"}' },
    { name: "a string that does not end", json: '{"a":"\\\\\\"' },
    { name: "a leading zero", json: '{"a":01}' },
    { name: "nesting over 128 levels", json: `{"a":${"[".repeat(200)}${"]".repeat(200)}}` },
    { name: "bytes that are not UTF-8", json: Buffer.from([0x7b, 0xff, 0x7d]) },
  ])("are refused for $name", ({ json }) => {
    expect(() => canonicalDefinition(json)).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }));
  });

  it("are refused for everything that JSON.parse refuses, and take everything else that has no member twice", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\ua0123456789.eE+- \ntrufalsn') }), (text) => {
        expect(takes(`{"x":${text}}`)).toBe(parses(`{"x":${text}}`));
      }),
      { numRuns: 2_000 },
    );
  });

  it("take text of megabytes with nothing but escapes without running out of stack", () => {
    const text = `{"a":${JSON.stringify('\\"'.repeat(1_000_000))}}`;
    expect(canonicalDefinition(text)).toBe(text);
  });

  it("have the SHA-256 of their UTF-8 bytes as digest", () => {
    const text = canonicalDefinition('{"ü":1}');
    expect(definitionDigest(text)).toBe(
      `sha256:${createHash("sha256").update(Buffer.from(text, "utf8")).digest("hex")}`,
    );
  });
});

describe("comparison with pins", () => {
  it("finds nothing where all is equal, in any order", () => {
    const [a, b] = [definition("a"), definition("b", { title: "B" })];
    expect(compareDefinitions(pinsOf(a, b), [b, a], "name")).toEqual([]);
  });

  it.each([
    { name: "description", more: { description: "reads, then sends" } },
    { name: "title", more: { title: "Reader" } },
    { name: "annotations", more: { annotations: { readOnlyHint: true } } },
    { name: "icons", more: { icons: [{ src: "data:," }] } },
    { name: "_meta", more: { _meta: { "example.com/x": 1 } } },
    { name: "inputSchema", more: { inputSchema: { type: "object", properties: { path: { default: "/etc" } } } } },
    { name: "outputSchema", more: { outputSchema: { type: "object" } } },
    { name: "a member that we do not know", more: { future: true } },
  ])("sees a change of $name", ({ more }) => {
    const pinned = definition("a");
    const live = definition("a", more);
    expect(compareDefinitions(pinsOf(pinned), [live], "name")).toEqual([
      { name: "a", change: "changed", renamedFrom: undefined, expected: pinned.digest, measured: live.digest },
    ]);
  });

  it("sees what is new and what was withdrawn", () => {
    const [a, b] = [definition("a"), definition("b", { title: "other" })];
    expect(compareDefinitions(pinsOf(a), [b], "name")).toEqual([
      { name: "b", change: "new", renamedFrom: undefined, measured: b.digest },
      { name: "a", change: "withdrawn", expected: a.digest },
    ]);
  });

  it("sees content that moved to another name", () => {
    const original = definition("read_file");
    const moved = definition("delete_file");
    expect(compareDefinitions(pinsOf(original), [original, moved], "name")).toEqual([
      { name: "delete_file", change: "renamed", renamedFrom: "read_file", measured: moved.digest },
    ]);
  });

  it("sees two tools that swapped their names", () => {
    const pins = pinsOf(definition("read", { title: "R" }), definition("write", { title: "W" }));
    const live = [definition("read", { title: "W" }), definition("write", { title: "R" })];
    const changes = compareDefinitions(pins, live, "name");
    expect(changes.map(({ name, change, renamedFrom }) => ({ name, change, renamedFrom }))).toEqual([
      { name: "read", change: "changed", renamedFrom: "write" },
      { name: "write", change: "changed", renamedFrom: "read" },
    ]);
  });

  it("does not take an inherited property for a pin", () => {
    const live = definition("constructor");
    expect(compareDefinitions({}, [live], "name")[0]).toMatchObject({ name: "constructor", change: "new" });
  });

  it("names resource templates by their uriTemplate", () => {
    const template = readDefinition('{"uriTemplate":"file:///{path}","name":"files"}', "uriTemplate");
    expect(template.name).toBe("file:///{path}");
    const pins = { [template.name]: { digest: template.digest, definition: template.definition } };
    expect(compareDefinitions(pins, [template], "uriTemplate")).toEqual([]);
  });
});

function takes(text: string): boolean {
  try {
    canonicalDefinition(text);
    return true;
  } catch (error) {
    return error instanceof Error && error.message.includes("occurs twice"); // Which JSON.parse lets pass.
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // The answer of the second implementation.
  }
}
