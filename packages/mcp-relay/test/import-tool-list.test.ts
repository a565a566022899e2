import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { importClientConfig } from "../src/import/import.js";
import { toolListDigest } from "../src/import/tool-list-canonical.js";

const definition = { description: "x", input_schema: { type: "object" }, output_schema: null };
/** Python 3.11: "sha256:" + sha256(json.dumps(definition, sort_keys=True, separators=(",", ":"))). */
const definitionHash = "sha256:61aba18a88a99a59b356dd48becc511165ea224349885f76a3b608a712013b67";
const digest = `sha256:${"5".repeat(64)}`;
const stdio = {
  display_name: "Files",
  transport: "stdio",
  spawn: { command: "python3", args: ["/opt/files.py"], measure_target: "/opt/files.py", binary_digest: digest },
};
const tool = (changes: Record<string, unknown> = {}) => ({
  tool_name: "read",
  server: stdio,
  approved_definition: definition,
  definition_hash: definitionHash,
  compliance_domain: "external",
  added_at: "2026-08-01T00:00:00Z",
  approved_by: "someone",
  ...changes,
});
const importList = (list: unknown) => importClientConfig(JSON.stringify(list, undefined, 1), "catalog.json");

describe("the list of tools of the cmcp gateway", () => {
  it("becomes servers: tools with the same server identity share one, whatever the label", async () => {
    const relabelled = { ...stdio, display_name: "Other label" };
    const otherTarget = { ...stdio, spawn: { ...stdio.spawn, measure_target: "/opt/other.py" } };
    const report = await importList([
      tool(),
      tool({ tool_name: "Write", server: relabelled }),
      tool({ tool_name: "third", server: otherTarget }),
    ]);
    expect(report.form).toBe("tool-list");
    const spawn = { command: "python3", args: ["/opt/files.py"], measureTarget: "/opt/files.py", digest };
    expect(report.servers.map(({ name, line, server }) => ({ name, line, server }))).toEqual([
      { name: "Files", line: 2, server: { transport: "stdio", spawn, tools: { allow: ["read", "Write"] } } },
      {
        name: "Files-2",
        line: expect.any(Number),
        server: {
          transport: "stdio",
          spawn: { ...spawn, measureTarget: "/opt/other.py" },
          tools: { allow: ["third"] },
        },
      },
    ]);
  });

  it("says what has no counterpart", async () => {
    const report = await importList([tool({ server: { ...stdio, spiffe_id: "spiffe://a/b", provenance: null } })]);
    expect(report.notes.map(({ message }) => message)).toEqual([expect.stringContaining("inheritEnv")]);
    expect(report.servers[0]?.notes.map(({ code }) => code)).toEqual(["KEY_NOT_TAKEN", "VALUE_CHANGED"]);
  });

  it("accepts an empty list", async () => {
    expect(await importList([])).toEqual({ form: "tool-list", servers: [], notes: [], problems: [] });
  });

  it("keeps the case of names", async () => {
    const [server] = (await importList([tool({ tool_name: "READ" })])).servers;
    expect(server?.server).toMatchObject({ tools: { allow: ["READ"] } });
  });

  it("leaves a null digest out, as not pinned", async () => {
    const server = { ...stdio, spawn: { command: "x", binary_digest: null, measure_target: null } };
    expect((await importList([tool({ server })])).servers[0]?.server).toMatchObject({ spawn: { command: "x" } });
  });

  it.each(["streamable-http", "http-sse"])(
    "takes a %s server as a valid entry that is not served",
    async (transport) => {
      const fingerprint = `SHA256:${"k".repeat(43)}`;
      const server = { display_name: "net", transport, url: "https://example.com/mcp", tls_fingerprint: fingerprint };
      const [imported] = (await importList([tool({ server })])).servers;
      expect(imported?.server).toMatchObject({ transport, url: server.url, tlsFingerprint: fingerprint });
      expect(imported?.notes.map(({ code }) => code)).toEqual(["NETWORK_SERVER"]);
    },
  );

  it("takes their placeholder fingerprint for loopback only", async () => {
    const server = {
      display_name: "net",
      transport: "http-sse",
      url: "http://127.0.0.1/x",
      tls_fingerprint: `SHA256:${"A".repeat(43)}=`,
    };
    expect((await importList([tool({ server })])).servers[0]?.server).toMatchObject({ tlsFingerprint: "unpinned" });
    const far = (await importList([tool({ server: { ...server, url: "https://example.com/" } })])).servers[0];
    expect(far?.server).toBeUndefined();
    expect(far?.notes.at(-1)).toMatchObject({ code: "NOT_VALID", message: expect.stringContaining("loopback") });
  });

  it.each([
    {
      name: "a hash that is not its definition's",
      list: [tool({ definition_hash: digest })],
      code: "DEFINITION_MISMATCH",
    },
    {
      name: "a definition that was edited",
      list: [tool({ approved_definition: { ...definition, description: "y" } })],
      code: "DEFINITION_MISMATCH",
    },
    {
      name: "a definition without schema",
      list: [tool({ approved_definition: { description: "x" } })],
      code: "NOT_VALID",
    },
    { name: "an entry without tool_name", list: [tool({ tool_name: undefined })], code: "NOT_VALID" },
    { name: "an entry without server", list: [tool({ server: undefined })], code: "NOT_VALID" },
    { name: "an unknown transport", list: [tool({ server: { ...stdio, transport: "websocket" } })], code: "NOT_VALID" },
    {
      name: "a stdio server without spawn",
      list: [tool({ server: { ...stdio, spawn: undefined } })],
      code: "NOT_VALID",
    },
    { name: "an entry that is a text", list: ["read"], code: "NOT_VALID" },
  ])("does not take $name", async ({ list, code }) => {
    const [server] = (await importList(list)).servers;
    expect(server?.server).toBeUndefined();
    expect(server?.notes.map((note) => note.code)).toContain(code);
  });

  it("does not take a tool_name that occurs twice", async () => {
    const [repeated, kept] = (await importList([tool(), tool()])).servers;
    expect(repeated?.notes).toEqual([{ code: "NOT_VALID", message: "this tool_name occurs twice" }]);
    expect(kept?.server).toMatchObject({ tools: { allow: ["read"] } });
  });
});

describe("toolListDigest", () => {
  // Python 3.11.2, json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) and sha256.
  it.each([
    [JSON.stringify(definition), definitionHash],
    [
      '{"b":1,"a":1.0,"c":1e15,"d":1e16,"e":0.00001,"f":0.0001,"g":123456789012345678901234567890,"h":-0.0,"i":1E2,"j":1.5e300,"k":5e-324,"l":-0}',
      "sha256:bc16163e3b4174020055db875a6a9491d00d77232a478b26dc4e86e917f1a210",
    ],
    [
      '{"\u00e9":"\u007f\u20ac\\n\\t\\b\\f\\r\\"\\\\/\\u0001","\uff5e":1,"\u{1f600}":2,"A":"\u{1f600}"}',
      "sha256:90f44b46574f2ad060d5b32487a30f68f21bd6203a2a0cfb020ab2a7f062eb55",
    ],
    ['{"b":[1,{"z":1,"a":2},[]],"a":{}}', "sha256:993ec4c52b80e08ac83960251d44c473df901ccd994fb30b7d692c4251dff693"],
  ])("gives Python's digest of %s", (text, expected) => {
    expect(toolListDigest(text)).toBe(expected);
  });

  partTest("python3")("gives Python's digest of random values", async () => {
    const texts = fc.sample(fc.json({ maxDepth: 4, stringUnit: "grapheme" }), 500);
    const program =
      "import sys,json,hashlib\nfor t in json.load(sys.stdin): print('sha256:'+hashlib.sha256(json.dumps(json.loads(t),sort_keys=True,separators=(',',':')).encode()).hexdigest())";
    const python = spawnSync("python3", ["-c", program], { input: JSON.stringify(texts), encoding: "utf8" });
    expect(texts.map((text) => toolListDigest(text))).toEqual(python.stdout.trim().split("\n"));
  });
});
