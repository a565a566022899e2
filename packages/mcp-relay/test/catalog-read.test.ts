import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { readCatalog } from "../src/catalog-read.js";
import { changed, fullCatalog, invalidChanges, validChanges } from "./catalog.samples.js";

const fuzzRuns = scaledCount("catalog texts", 200_000);

const read = (value: unknown) => readCatalog(JSON.stringify(value, undefined, 2));
const problemsOf = (text: string) => {
  const reading = readCatalog(text);
  return reading.ok ? [] : reading.problems.map(({ line, path, message }) => ({ line, path, message }));
};

describe("readCatalog", () => {
  it("reads a catalog that uses every key", () => {
    const reading = read(fullCatalog);
    expect(reading).toMatchObject({ ok: true });
    const servers = reading.ok ? reading.catalog.servers : new Map();
    expect([...servers.keys()]).toEqual(["files", "local_sse", "remote"]);
    expect(JSON.parse(JSON.stringify(Object.fromEntries(servers)))).toEqual(
      JSON.parse(JSON.stringify(fullCatalog)).servers,
    );
  });

  it.each(validChanges)("accepts $name", ({ path, value }) => {
    expect(read(changed(fullCatalog, path, value))).toMatchObject({ ok: true });
  });

  it.each(invalidChanges)("refuses $name and names its place", ({ path, value, at }) => {
    const reading = read(changed(fullCatalog, path, value));
    expect(reading.ok ? [] : reading.problems.map((problem) => problem.path)).toContain(at);
  });

  it("accepts an empty catalog", () => {
    expect(readCatalog('{"version":1,"servers":{}}')).toEqual({
      ok: true,
      catalog: { version: 1, servers: new Map() },
    });
  });

  it("reports every problem at once, in the order of the file, each with its line", () => {
    const text = [
      "{",
      '  "version": 1,',
      '  "servers": {',
      '    "a": { "transport": "stdio", "spawn": { "comand": "x" } },',
      '    "b": { "transport": "streamable-http", "url": "https://example.com" },',
      '    "c__d": { "transport": "carrier-pigeon" },',
      '    "e": {',
      '      "transport": "stdio",',
      '      "spawn": { "command": "x", "digest": "sha256:XYZ" },',
      '      "url": "https://example.com"',
      "    }",
      "  }",
      "}",
    ].join("\n");
    expect(problemsOf(text)).toEqual([
      { line: 4, path: "servers.a.spawn", message: "command is missing" },
      {
        line: 4,
        path: "servers.a.spawn.comand",
        message: expect.stringContaining("unknown key; known here: command, args"),
      },
      { line: 5, path: "servers.b", message: "tlsFingerprint is missing" },
      {
        line: 6,
        path: "servers.c__d",
        message: expect.stringContaining("the key must be letters, digits, - and single _"),
      },
      {
        line: 6,
        path: "servers.c__d.transport",
        message: expect.stringContaining('"stdio", "streamable-http", "http-sse"'),
      },
      {
        line: 9,
        path: "servers.e.spawn.digest",
        message: expect.stringContaining('64 lower-case hex digits, not "sha256:XYZ"'),
      },
      {
        line: 10,
        path: "servers.e.url",
        message: "must be left out: a stdio server has no url: it is started from spawn",
      },
    ]);
  });

  it("refuses a key that occurs twice, at any depth, at the line of the second", () => {
    const text =
      '{"version":1,\n"servers":{"a":{"transport":"stdio","spawn":{"command":"x",\n"command":"y"}},\n"a":{}}}';
    const problems = problemsOf(text).filter(({ message }) => message.includes("twice"));
    expect(problems.map(({ line, path }) => ({ line, path }))).toEqual([
      { line: 3, path: "servers.a.spawn.command" },
      { line: 4, path: "servers.a" },
    ]);
  });

  it.each([
    { name: "a comment", text: '{"version":1,\n// mine\n"servers":{}}', line: 2, message: "comments are not JSON" },
    { name: "a trailing comma", text: '{"version":1,"servers":{},\n}', line: 2, message: "not JSON" },
    { name: "a missing brace", text: '{"version":1,"servers":{}', line: 1, message: "close brace expected" },
    { name: "nothing", text: "", line: 1, message: "not JSON" },
    { name: "a byte order mark", text: '\ufeff{"version":1,"servers":{}}', line: 1, message: "byte order mark" },
    { name: "the list form of another gateway", text: "[]", line: 1, message: "`import` takes" },
    { name: "a text", text: '"x"', line: 1, message: "must be" },
    { name: "nesting without end", text: "[".repeat(100_000), line: 1, message: "nested deeper than 200 levels" },
  ])("refuses $name", ({ text, line, message }) => {
    expect(problemsOf(text)[0]).toMatchObject({ line, message: expect.stringContaining(message) });
  });

  it("refuses a pin whose digest is not that of its definition", () => {
    const path = ["servers", "files", "tools", "pinned", "echo", "definition"];
    expect(problemsOf(JSON.stringify(changed(fullCatalog, path, '{"name":"echo"}')))).toEqual([
      {
        line: 1,
        path: "servers.files.tools.pinned.echo.digest",
        message: "is not the digest of the definition beside it: pin this server again",
      },
    ]);
  });

  it("never shows the value of a variable", () => {
    const text = JSON.stringify(changed(fullCatalog, ["servers", "files", "spawn", "env", "TOKEN"], "s3cret\u0000"));
    expect(problemsOf(text)).toHaveLength(1);
    expect(JSON.stringify(problemsOf(text))).not.toContain("s3cret");
  });

  it("keeps keys such as constructor and __proto__ as the user's own", () => {
    const reading = readCatalog(
      '{"version":1,"servers":{"constructor":{"transport":"stdio","spawn":{"command":"x","env":{"__proto__":"1"}}}}}',
    );
    const server = reading.ok ? reading.catalog.servers.get("constructor") : undefined;
    const env = server?.transport === "stdio" ? server.spawn.env : undefined;
    expect(Object.entries(env ?? {})).toEqual([["__proto__", "1"]]);
    expect(reading.ok && reading.catalog.servers.get("toString")).toBeUndefined();
  });

  it("agrees with JSON.parse on what is JSON", () => {
    const texts = fc.oneof(
      fc.json(),
      fc
        .json()
        .chain((text) =>
          fc
            .tuple(fc.constant(text), fc.nat(text.length), fc.string({ maxLength: 2, unit: "binary" }))
            .map(([whole, at, inserted]) => whole.slice(0, at) + inserted + whole.slice(at + inserted.length)),
        ),
    );
    const isJson = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(texts, (text) => {
        const hasSyntaxProblem = problemsOf(text).some(({ message }) =>
          /not JSON|not JSON:|document is empty|byte order/u.test(message),
        );
        expect(hasSyntaxProblem).toBe(!isJson(text));
      }),
      { numRuns: fuzzRuns / 10 },
    );
  });

  it("ends with a report for any text", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...'{}[]:,"\\\n0-e.'.split(""),
        "null",
        '"version"',
        '"servers"',
        ":1",
        '"a":',
        '"spawn":{',
        "/*",
        "//",
      ),
      fc.string({ unit: "binary", maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const reading = readCatalog(pieces.join(""));
        expect(reading.ok || reading.problems.length > 0).toBe(true);
      }),
      { numRuns: fuzzRuns },
    );
  }, 300_000);
});
