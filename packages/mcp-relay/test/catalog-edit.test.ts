import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addServers, emptyCatalog, type ServerPins, writePins } from "../src/catalog-edit.js";
import { readCatalog } from "../src/catalog-read.js";
import { definitionDigest } from "../src/drift.js";

const pin = (definition: string) => ({ digest: definitionDigest(definition), definition });
const pins: ServerPins = {
  digest: `tree-v1:${"1".repeat(64)}`,
  interpreter: { path: "/usr/bin/node", digest: `sha256:${"2".repeat(64)}` },
  tools: new Map([
    ["write", pin('{"name":"write"}')],
    ["__proto__", pin('{"name":"__proto__"}')],
    ["echo", pin('{"name":"echo"}')],
  ]),
  prompts: new Map(),
  resourceTemplates: new Map([["file:///{path}", pin('{"uriTemplate":"file:///{path}"}')]]),
  initialize: { protocolVersion: "2025-11-25" },
};

const text = [
  "{",
  '    "version": 1,',
  '    "servers": {',
  '        "one": {"transport":"stdio",   "spawn": {"command": "node", "args": ["a.js"]}},',
  '        "two": {',
  '            "transport": "stdio",',
  '            "spawn": { "command": "python3", "args": [ "b.py" ] }',
  "        }",
  "    }",
  "}",
  "",
].join("\n");

describe("writePins", () => {
  it("writes what was accepted so that it can be read back, names in order", () => {
    const reading = readCatalog(writePins(text, new Map([["two", pins]]), ["one", "two"]));
    const server = reading.ok ? reading.catalog.servers.get("two") : undefined;
    expect(server).toMatchObject({
      pinnedInitialize: { protocolVersion: "2025-11-25" },
      spawn: { command: "python3", digest: pins.digest, interpreter: pins.interpreter },
    });
    expect(Object.keys(server?.tools?.pinned ?? {})).toEqual(["__proto__", "echo", "write"]);
    expect(Object.keys(server?.tools?.pinnedResourceTemplates ?? {})).toEqual(["file:///{path}"]);
    expect(server?.tools?.pinnedPrompts).toEqual({});
  });

  it("leaves other entries as they were", () => {
    const edited = writePins(text, new Map([["two", pins]]), ["one", "two"]);
    expect(edited.split("\n").slice(0, 6)).toEqual(text.split("\n").slice(0, 6));
    expect(edited).toContain(
      '"spawn": {\n                "command": "python3",\n                "args": [ "b.py" ],\n                "digest"',
    );
    expect(edited.endsWith(text.slice(text.lastIndexOf("        }")))).toBe(true);
  });

  it("keeps the file's indentation, line ends and last line", () => {
    const windows = text.replaceAll("\n", "\r\n").replaceAll("    ", "\t");
    const edited = writePins(windows, new Map([["two", pins]]), ["one", "two"]);
    expect(edited).not.toMatch(/[^\r]\n/u);
    expect(edited).toMatch(/\r\n\t\t\t"pinnedInitialize"/u);
    expect(edited.endsWith("}\r\n")).toBe(true);
  });

  it("gives the same text when it is done again, and removes an interpreter that is gone", () => {
    const once = writePins(text, new Map([["two", pins]]), ["two"]);
    expect(writePins(once, new Map([["two", pins]]), ["two"])).toBe(once);
    const without = writePins(once, new Map([["two", { ...pins, interpreter: undefined }]]), ["two"]);
    expect(without).not.toContain("interpreter");
    expect(readCatalog(without)).toMatchObject({ ok: true });
  });

  it("passes over a server that was taken out meanwhile", () => {
    expect(writePins(text, new Map([["three", pins]]), ["one", "two"])).toBe(text);
  });
});

describe("what is written", () => {
  it("can be read and is all that changed, whatever the layout of the file", () => {
    const spaces = fc.constantFrom("", " ", "\n", "\r\n", "\n  ", "\t", "\n\t\t");
    const member = fc.constantFrom('"cwd": "/"', '"args": ["a",  "b"]', '"env": { "A":"1" }', '"digest": "sha256:x"');
    const laidOut = fc
      .tuple(fc.uniqueArray(member), fc.array(spaces, { minLength: 6, maxLength: 6 }))
      .map(([members, [a, b, c, d, e, f]]) => {
        const spawn = [`"command":${a}"x"`, ...members].map((text) => b + text).join(`${c},`);
        return `{${a}"version":1,${d}"servers":{${e}"one":{"transport":"stdio",${f}"spawn":{${spawn}${d}}${b}}${c}}${a}}`;
      });
    fc.assert(
      fc.property(laidOut, (before) => {
        const edited = writePins(before, new Map([["one", pins]]), ["one"]);
        const old = JSON.parse(before).servers.one;
        const now = JSON.parse(edited).servers.one;
        expect(now.spawn).toEqual({ ...old.spawn, digest: pins.digest, interpreter: pins.interpreter });
        expect(Object.keys(now.tools.pinned)).toEqual(["__proto__", "echo", "write"]);
        expect(writePins(edited, new Map([["one", pins]]), ["one"])).toBe(edited);
        const taken = writePins(
          edited,
          new Map([["one", { ...pins, interpreter: undefined, initialize: undefined }]]),
          ["one"],
        );
        expect(JSON.parse(taken).servers.one.spawn).toEqual({ ...old.spawn, digest: pins.digest });
        if (edited.includes('["a",')) expect(edited).toContain('["a",  "b"]');
      }),
    );
  });
});

describe("addServers", () => {
  it("appends entries to a catalog and leaves the others alone", () => {
    const server = { transport: "stdio", spawn: { command: "node" } } as const;
    const edited = addServers(text, new Map([["three", server]]));
    const reading = readCatalog(edited);
    expect(reading.ok ? [...reading.catalog.servers.keys()] : []).toEqual(["one", "two", "three"]);
    expect(edited.startsWith(text.slice(0, text.lastIndexOf("        }")))).toBe(true);
  });

  it("begins an empty catalog", () => {
    const server = { transport: "stdio", spawn: { command: "node" } } as const;
    expect(readCatalog(addServers(emptyCatalog, new Map([["a", server]])))).toMatchObject({ ok: true });
  });
});
