import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalText } from "../../src/check/transcript/canonical-text.js";
import { describeDifference, firstDifference, visible } from "../../src/check/transcript/compare.js";
import { createNormalise, type VolatileValues } from "../../src/check/transcript/normalise.js";
import { readTranscript } from "../../src/check/transcript/read-transcript.js";
import { lineOf, writeTranscript } from "../../src/check/transcript/transcript.js";

const values: VolatileValues = {
  PLUGIN_ROOT: "/srv/plugins/smoke",
  DATA: "/plugin-data",
  TMP: "/plugin-data/tmp",
  SECRETS: "/var/tmp/stage-1/secrets",
  OTHER: "/var/tmp/stage-1/other",
  INSTANCE: "7d3f0a1c-2b",
  PORT: 40123,
};
/** Another machine, another run. */
const elsewhere: VolatileValues = {
  PLUGIN_ROOT: "/home/somebody/copy",
  DATA: "/var/lib/host/data",
  TMP: "/var/lib/host/data/tmp",
  SECRETS: "/tmp/s",
  OTHER: "/tmp/o",
  INSTANCE: "00000000-ff",
  PORT: 40_009,
};
const normalise = createNormalise(values, "smoke");

/** Takes back what normalising did, in the texts of a line. Written without its code. */
function restored(text: string): string {
  return text.replace(
    /<(=*)(PLUGIN_ROOT|DATA|TMP|SECRETS|OTHER|INSTANCE|PORT:text|PORT|VERSION)>/g,
    (_, marks, name) =>
      marks === ""
        ? String(Object.entries(values).find(([key]) => key === name.replace(":text", ""))?.[1])
        : `<${marks.slice(1)}${name}>`,
  );
}

const names = ["PLUGIN_ROOT", "DATA", "TMP", "SECRETS", "OTHER", "INSTANCE", "PORT", "PORT:text", "VERSION"];
/** Texts that are made to be mistaken. */
const piece = fc.oneof(
  fc.constantFrom(...Object.values(values).map(String), ...names, "<", ">", "=", "/", " ", "<=", "-"),
  fc.constantFrom(...names.flatMap((name) => [`<${name}>`, `<=${name}>`])),
  fc.string({ unit: "binary", maxLength: 3 }),
);
const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.constantFrom<JsonValue>(40123, 9, 0, 1.5, true, false, null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
})).value;
const message: fc.Arbitrary<JsonObject> = fc.dictionary(text, json, { maxKeys: 4 });

describe("normalising", () => {
  it.each<{ name: string; said: JsonValue; written: JsonValue }>([
    { name: "a path below the data folder", said: "/plugin-data/a", written: "<DATA>/a" },
    { name: "the longest path", said: "/plugin-data/tmp/a", written: "<TMP>/a" },
    {
      name: "a path in a sentence",
      said: "cannot open '/srv/plugins/smoke'.",
      written: "cannot open '<PLUGIN_ROOT>'.",
    },
    { name: "a path as a URL", said: "file:///plugin-data/x", written: "file://<DATA>/x" },
    { name: "no path that only begins alike", said: "/plugin-database", written: "/plugin-database" },
    { name: "no path that only ends alike", said: "/a/plugin-data", written: "/a/plugin-data" },
    { name: "a port as a number", said: 40123, written: "<PORT>" },
    { name: "a port in a text", said: "127.0.0.1:40123", written: "127.0.0.1:<PORT:text>" },
    { name: "no digits of a longer number", said: "140123", written: "140123" },
    { name: "a placeholder that a plugin said", said: "<DATA>", written: "<=DATA>" },
    { name: "one that it escaped by itself", said: "<=DATA> <==PORT>", written: "<==DATA> <===PORT>" },
    { name: "a mark before a path", said: "</plugin-data>", written: "<<DATA>>" },
    { name: "other things in angle brackets", said: "<NAME> <data> <=X>", written: "<NAME> <data> <=X>" },
    { name: "keys", said: { "/plugin-data": 1, a: 2 }, written: { "<DATA>": 1, a: 2 } },
  ])("replaces, or leaves, $name", ({ said, written }) => {
    expect(normalise({ said })).toBe(canonicalText({ said: written }));
  });

  it("replaces the version of a library and keeps the plugin's own", () => {
    const info = (name: string, version: string): JsonObject => ({
      _meta: { "io.modelcontextprotocol/serverInfo": { name, version } },
    });
    expect(normalise(info("smoke", "1.0.0"))).toContain('"version":"1.0.0"');
    expect(normalise(info("mcp", "2.2.0"))).toContain('{"name":"mcp","version":"<VERSION>"}');
    expect(normalise({ serverInfo: { name: "mcp", version: "2.2.0" } })).toContain("2.2.0");
  });

  it("writes different messages differently, whatever placeholders they say by themselves", () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        fc.pre(one !== other);
        expect(normalise({ said: one })).not.toBe(normalise({ said: other }));
      }),
    );
    fc.assert(
      fc.property(text, (said) => {
        expect(restored(JSON.parse(normalise({ said })).said)).toBe(said);
      }),
      { numRuns: 500 },
    );
  });

  it("knows a number that is the port from a text that says it", () => {
    const said: readonly JsonValue[] = [40123, "40123", "<PORT>", "<PORT:text>", "<=PORT>"];
    expect(new Set(said.map((each) => normalise({ each }))).size).toBe(said.length);
  });

  it("gives the same bytes for runs with other paths, ports and instances, in any order of keys", () => {
    const there = createNormalise(elsewhere, "smoke");
    const slot = fc.constantFrom("PLUGIN_ROOT", "DATA", "TMP", "SECRETS", "OTHER", "INSTANCE");
    const part = fc.oneof(slot, fc.constantFrom(" ", ": ", "'", "<", "<DATA>", "ü"));
    const valueIn = (from: VolatileValues, name: string): string =>
      String(Object.entries(from).find(([key]) => key === name)?.[1] ?? name);
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.array(part, { maxLength: 5 })), (members) => {
        const said = (from: VolatileValues, reverse: boolean): JsonObject => {
          const entries = Object.entries(members).map(([key, parts]) => {
            const written = parts.map((each) => valueIn(from, each)).join(" ");
            return [key, { written, port: from.PORT ?? null }] satisfies [string, JsonValue];
          });
          return Object.fromEntries(reverse ? entries.reverse() : entries);
        };
        expect(there(said(elsewhere, true))).toBe(normalise(said(values, false)));
      }),
    );
  });

  it("changes nothing of a line that was written: reading and writing it again gives its bytes", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), (params) => {
        const lines = params.map((each, index) =>
          lineOf({ dir: "host", msg: { jsonrpc: "2.0", id: index, method: "m", params: each } }, normalise),
        );
        const written = writeTranscript({ header: undefined, lines });
        const reading = readTranscript(written);
        expect(reading).toEqual({ ok: true, transcript: { header: undefined, lines } });
        expect(writeTranscript({ header: undefined, lines: reading.ok ? reading.transcript.lines : [] })).toBe(written);
      }),
    );
  });
});

describe("a transcript", () => {
  const ask = '{"dir":"host","msg":{"id":1,"jsonrpc":"2.0","method":"m"}}';

  it("may begin with a header, and keeps it", () => {
    const text = `{"outcome":"passed","spec":"PROTOCOL.md § 4","title":"a title"}\n${ask}\n`;
    const reading = readTranscript(text);
    if (!reading.ok) throw new Error(reading.problem);
    expect(reading.transcript.lines).toEqual([ask]);
    expect(writeTranscript(reading.transcript)).toBe(text);
  });

  it("is the same however a line's keys are ordered and spaced", () => {
    const edited = '{ "msg": {"method":"m", "jsonrpc":"2.0","id":1}, "dir":"host" }\r\n';
    expect(readTranscript(edited)).toMatchObject({ ok: true, transcript: { lines: [ask] } });
  });

  it.each([
    { name: "no JSON", line: "hello" },
    { name: "an empty line", line: "" },
    { name: "an array", line: "[1]" },
    { name: "another direction", line: '{"dir":"client","msg":{"jsonrpc":"2.0","method":"m"}}' },
    { name: "both msg and raw", line: '{"dir":"host","msg":{"jsonrpc":"2.0","method":"m"},"raw":"x"}' },
    { name: "neither", line: '{"dir":"host"}' },
    { name: "another member", line: '{"dir":"host","raw":"x","at":1}' },
    { name: "what is no message", line: '{"dir":"host","msg":{"a":1}}' },
    {
      name: "a message that is too deep",
      line: `{"dir":"plugin","msg":{"jsonrpc":"2.0","id":1,"result":${"[".repeat(1e5)}${"]".repeat(1e5)}}}`,
    },
    { name: "a header that is not the first line", line: '{"title":"late"}' },
  ])("is refused with the line: $name", ({ line }) => {
    expect(readTranscript(`${ask}\n${line}\n${ask}\n`)).toMatchObject({ ok: false, line: 2 });
  });

  it("holds what was no message as text", () => {
    const line = lineOf({ dir: "plugin", raw: "loading… <DATA> /plugin-data \u0000" }, normalise);
    expect(line).toBe('{"dir":"plugin","raw":"loading… <=DATA> <DATA> \\u0000"}');
    expect(readTranscript(`${line}\n`)).toMatchObject({ ok: true, transcript: { lines: [line] } });
  });
});

describe("comparing", () => {
  it.each([
    { name: "equal ones", expected: ["a", "b"], received: ["a", "b"], difference: undefined },
    {
      name: "another line",
      expected: ["a", "b"],
      received: ["a", "c"],
      difference: { line: 2, expected: "b", received: "c" },
    },
    {
      name: "a missing line",
      expected: ["a", "b"],
      received: ["a"],
      difference: { line: 2, expected: "b", received: undefined },
    },
    {
      name: "one more line",
      expected: ["a"],
      received: ["a", "b"],
      difference: { line: 2, expected: undefined, received: "b" },
    },
  ])("tells of $name the first difference", ({ expected, received, difference }) => {
    expect(firstDifference(expected, received)).toEqual(difference);
  });

  it("says whether a line differs, is missing, or is one too many", () => {
    const says = (expected: string | undefined, received: string | undefined): string =>
      describeDifference({ line: 3, expected, received }, 2);
    expect([says("a", "b"), says("a", undefined), says(undefined, "b")]).toEqual([
      "line 3 differs",
      "line 3 of expected.jsonl did not come",
      "line 3 is one more than the 2 of expected.jsonl",
    ]);
  });

  it("shows a long line around the place, and nothing that a terminal obeys", () => {
    const one = `${"a".repeat(1e6)}\u001b[31m${"b".repeat(1e6)}`;
    const other = `${"a".repeat(1e6)}\u202e${"b".repeat(1e6)}`;
    const difference = firstDifference([one], [other]);
    expect(difference?.expected).toMatch(/^…a+\\u001b\[31mb+…$/);
    expect(difference?.received).toMatch(/^…a+\\u202eb+…$/);
    expect(difference?.expected?.length).toBeLessThan(2_100);
    expect(visible("wörld ✓ \ud800")).toBe("wörld ✓ \\ud800");
  });
});
