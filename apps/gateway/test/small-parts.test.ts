import { execFileSync } from "node:child_process";
import { readCatalog } from "@berth/mcp-relay";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newRunServer, runName, withVariables } from "../src/run-catalog.js";
import { shellQuote } from "../src/shell-quote.js";
import { toolEffect } from "../src/tool-effects.js";

describe("shellQuote", () => {
  it("gives a line from which a shell reads back exactly the words", () => {
    const word = fc.string({ unit: fc.constantFrom(..."ab '\"\\$`!*?~#&|;<>(){}[]\n\té-") });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const printed = execFileSync("sh", ["-c", `printf '%s\\0' ${shellQuote(words)}`], { encoding: "utf8" });
        expect(printed.split("\0").slice(0, -1)).toEqual(words);
      }),
      { numRuns: 60 },
    );
  });
});

describe("toolEffect", () => {
  const definition = (annotations?: unknown) => JSON.stringify({ name: "x", inputSchema: {}, annotations });
  it.each([
    ["write_file", undefined, "writes"],
    ["createEntities", undefined, "writes"],
    ["delete-note", undefined, "deletes"],
    ["dropTable", undefined, "deletes"],
    ["read_file", undefined, "unknown"],
    ["preview", undefined, "unknown"],
    ["recreation_list", undefined, "unknown"],
    ["anything", { readOnlyHint: true }, "reads"],
    ["write_file", { readOnlyHint: true }, "reads"],
    ["anything", { readOnlyHint: false }, "writes"],
    ["anything", { destructiveHint: true }, "deletes"],
    ["delete_all", { readOnlyHint: false, destructiveHint: false }, "deletes"],
    ["anything", "no object", "unknown"],
  ])("says that %s with %j %s", (name, annotations, effect) => {
    expect(toolEffect(name, definition(annotations))).toBe(effect);
  });
});

describe("runName", () => {
  const base = {
    command: "node",
    args: ["/opt/x/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "/srv"],
    cwd: "/a",
  };
  it("is readable and a name that a catalog accepts", () => {
    expect(runName(base)).toMatch(/^server-filesystem-[0-9a-f]{12}$/u);
    expect(runName({ command: "python3", args: ["-u", "tools/my server.py"], cwd: "/" })).toMatch(
      /^my-server-[0-9a-f]{12}$/u,
    );
    expect(runName({ command: "/opt/tool", args: [], cwd: "/" })).toMatch(/^tool-[0-9a-f]{12}$/u);
  });
  it("is another one for another command, argument list or folder", () => {
    const names = [
      base,
      { ...base, args: [...base.args, "-x"] },
      { ...base, cwd: "/b" },
      { ...base, command: "nodejs" },
      { ...base, args: [base.args.join(" ")] },
    ];
    expect(new Set(names.map(runName)).size).toBe(names.length);
  });
  it("is accepted by the catalog for any command line", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string({ unit: "binary" })), (command, args) => {
        const servers = { [runName({ command, args, cwd: "/" })]: { transport: "stdio", spawn: { command: "x" } } };
        expect(readCatalog(JSON.stringify({ version: 1, servers }))).toMatchObject({ ok: true });
      }),
    );
  });
  it("keeps the variables of the command line that is used now", () => {
    const server = newRunServer({ command: "x", args: [], cwd: "/" }, ["A"]);
    expect(server.spawn.inheritEnv).toEqual(["A"]);
    expect(withVariables(server, ["B", "B"]).spawn.inheritEnv).toEqual(["B"]);
    expect(withVariables(server, []).spawn.inheritEnv).toEqual(["A"]);
  });
});
