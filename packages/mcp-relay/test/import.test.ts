import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { readCatalog } from "../src/catalog-read.js";
import { importClientConfig } from "../src/import/import.js";

const json = (value: unknown) => JSON.stringify(value, undefined, 2);
const one = async (entry: unknown, name = "it") => {
  const report = await importClientConfig(json({ mcpServers: { [name]: entry } }), "config.json");
  const [server] = report.servers;
  if (server === undefined) throw new Error("no server in the report");
  return server;
};
const codes = (notes: readonly { code: string }[]) => notes.map(({ code }) => code);

describe("importClientConfig, by form", () => {
  it("reads the mcpServers form of Claude Desktop and Cursor", async () => {
    const text = json({
      globalShortcut: "Ctrl+Space",
      mcpServers: {
        files: { command: "node", args: ["/opt/files/index.js", "/srv"], env: { MODE: "ro" }, cwd: "/srv" },
        memory: { type: "stdio", command: "/opt/memory/run" },
      },
    });
    expect(await importClientConfig(text, "claude_desktop_config.json")).toEqual({
      form: "mcpServers",
      notes: [],
      problems: [],
      servers: [
        {
          sourceName: "files",
          name: "files",
          line: 4,
          notes: [],
          server: {
            transport: "stdio",
            spawn: { command: "node", args: ["/opt/files/index.js", "/srv"], env: { MODE: "ro" }, cwd: "/srv" },
          },
        },
        {
          sourceName: "memory",
          name: "memory",
          line: 15,
          notes: [],
          server: { transport: "stdio", spawn: { command: "/opt/memory/run" } },
        },
      ],
    });
  });

  it("reads VS Code's mcp.json with comments, trailing commas and inputs", async () => {
    const text = `\ufeff{
  // asked once
  "inputs": [{ "id": "token", "type": "promptString" }],
  "servers": {
    "git": { "type": "stdio", "command": "node", "args": ["\${workspaceFolder}/git.js"], "env": { "GIT_TOKEN": "\${input:token}" }, },
  },
}`;
    const report = await importClientConfig(text, "mcp.json");
    expect(report.form).toBe("vscode");
    expect(codes(report.notes)).toEqual(["PLACEHOLDER"]);
    expect(report.servers[0]).toMatchObject({ line: 5, server: { spawn: { env: { GIT_TOKEN: "env:GIT_TOKEN" } } } });
    expect(codes(report.servers[0]?.notes ?? [])).toEqual(["PLACEHOLDER", "PLACEHOLDER"]);
  });

  it("reads VS Code's settings.json", async () => {
    const report = await importClientConfig(
      '{"editor.tabSize":2,"mcp":{"servers":{"a":{"command":"/bin/a"}}}}',
      "settings.json",
    );
    expect(report).toMatchObject({ form: "vscode", servers: [{ name: "a", server: { transport: "stdio" } }] });
  });

  it("reads Zed's context_servers, command as text or as object, and says when an extension has none", async () => {
    const text = json({
      context_servers: {
        plain: { source: "custom", command: "node", args: ["a.js"] },
        nested: { command: { path: "node", args: ["b.js"], env: { A: "1" } } },
        extension: { settings: {} },
      },
    });
    const { form, servers } = await importClientConfig(text, "settings.json");
    expect(form).toBe("zed");
    expect(servers.map(({ server }) => (server?.transport === "stdio" ? server.spawn : undefined))).toEqual([
      { command: "node", args: ["a.js"] },
      { command: "node", args: ["b.js"], env: { A: "1" } },
      undefined,
    ]);
    expect(servers[2]?.notes.at(-1)?.message).toContain("neither a command nor a url");
  });

  it("reads Codex' TOML, its named variables, deadlines and tool lists", async () => {
    const text = [
      'model = "x"',
      "[mcp_servers.docs]",
      'command = "node"',
      'args = ["docs.js"]',
      'env_vars = ["DOCS_TOKEN"]',
      "startup_timeout_sec = 20",
      "tool_timeout_sec = 1.5",
      'enabled_tools = ["search"]',
      "[mcp_servers.docs.env]",
      'MODE = "fast"',
      "[mcp_servers.off]",
      'command = "x"',
      "enabled = false",
    ].join("\n");
    const report = await importClientConfig(text, "config.toml");
    expect(report.form).toBe("codex");
    expect(report.servers).toMatchObject([
      {
        line: 2,
        notes: [],
        server: {
          deadlines: { startMs: 20_000, callMs: 1_500 },
          tools: { allow: ["search"] },
          spawn: { command: "node", args: ["docs.js"], env: { MODE: "fast" }, inheritEnv: ["DOCS_TOKEN"] },
        },
      },
      { line: 11, notes: [{ code: "SWITCHED_OFF" }] },
    ]);
    expect(report.servers[1]?.server).toBeUndefined();
  });

  it.each([
    { name: "no form that is known", text: '{"theme":"dark"}', file: "a.json", message: "holds none of mcpServers" },
    { name: "text that is no JSON", text: '{"mcpServers":', file: "a.json", message: "not JSON" },
    { name: "TOML without servers", text: "a = 1", file: "a.toml", message: "holds no mcp_servers" },
    { name: "text that is no TOML", text: "= 1", file: "a.toml", message: "" },
  ])("says what is wrong with $name", async ({ text, file, message }) => {
    const report = await importClientConfig(text, file);
    expect(report).toMatchObject({ form: undefined, servers: [] });
    expect(report.problems[0]).toMatchObject({ line: 1, message: expect.stringContaining(message) });
  });

  it("says that the servers of single projects are not taken", async () => {
    const text = json({
      mcpServers: {},
      projects: { "/a": { mcpServers: { x: { command: "y" } } }, "/b": { mcpServers: {} } },
    });
    expect((await importClientConfig(text, ".claude.json")).notes.map(({ message }) => message)).toEqual([
      "servers of the project /a are not taken: import its .mcp.json",
    ]);
  });
});

describe("importClientConfig, by entry", () => {
  it.each([
    { name: "npx", entry: { command: "npx", args: ["-y", "@scope/pkg"] }, advice: "npm install @scope/pkg" },
    { name: "npx on Windows", entry: { command: "npx.cmd", args: ["pkg"] }, advice: "npm install pkg" },
    { name: "uvx", entry: { command: "uvx", args: ["mcp-server-git"] }, advice: "uv tool install mcp-server-git" },
    { name: "pipx run", entry: { command: "pipx", args: ["run", "tool"] }, advice: "uv tool install tool" },
    { name: "docker", entry: { command: "docker", args: ["run", "-i", "img"] }, advice: "an image is no file" },
    { name: "a shell line", entry: { command: "sh", args: ["-c", "node x"] }, advice: "start the program itself" },
    { name: "cmd /c npx", entry: { command: "cmd", args: ["/c", "npx", "x"] }, advice: "start the program itself" },
    { name: "npm exec", entry: { command: "npm", args: ["exec", "x"] }, advice: "install the package" },
    { name: "uv run", entry: { command: "/usr/bin/uv", args: ["run", "x.py"] }, advice: "install the package" },
  ])("takes $name and says that it cannot be measured", async ({ entry, advice }) => {
    const server = await one(entry);
    expect(server.server).toMatchObject({ transport: "stdio", spawn: entry });
    expect(server.notes).toEqual([{ code: "NO_TARGET_ON_DISK", message: expect.stringContaining(advice) }]);
  });

  it.each([
    ["node", ["a.js"]],
    ["sh", ["run.sh"]],
    ["npm", ["start"]],
  ])("has no advice for %s %j", async (command, args) => {
    expect((await one({ command, args })).notes).toEqual([]);
  });

  it("keeps variables as given and warns about secrets without showing them", async () => {
    const server = await one({
      command: "x",
      env: { API_KEY: "sk-12345", LEVEL: "debug", PORT: 8080, FROM: `$${"{HOME_TOKEN}"}` },
    });
    expect(server.server).toMatchObject({
      spawn: { env: { API_KEY: "sk-12345", LEVEL: "debug", PORT: "8080", FROM: "env:HOME_TOKEN" } },
    });
    expect(codes(server.notes)).toEqual(["LITERAL_SECRET", "VALUE_CHANGED"]);
    expect(JSON.stringify(server.notes)).not.toContain("sk-12345");
  });

  it("keeps a value that only looks like a reference", async () => {
    expect((await one({ command: "x", env: { DATABASE_URL: "file:./dev.db" } })).server).toMatchObject({
      spawn: { env: { DATABASE_URL: "literal:file:./dev.db" } },
    });
  });

  it("names every key that has no place in the catalog", async () => {
    const entry = { command: "x", autoApprove: ["a"], timeout: 60, envFile: ".env", somethingNew: 1 };
    expect((await one(entry)).notes.map(({ message }) => message.split(" ")[0])).toEqual([
      "autoApprove",
      "timeout",
      "envFile",
      "somethingNew",
    ]);
  });

  it("takes tool lists of Gemini CLI", async () => {
    expect((await one({ command: "x", includeTools: ["a"], excludeTools: ["b"] })).server).toMatchObject({
      tools: { allow: ["a"], deny: ["b"] },
    });
  });

  it("gives names a form in which server__tool splits in one way, and says so", async () => {
    const text = json({
      mcpServers: { "My  Server": { command: "a" }, "My-Server": { command: "b" }, "@s/p__q_": { command: "c" } },
    });
    const { servers } = await importClientConfig(text, "a.json", ["s-p_q"]);
    expect(servers.map(({ name, notes }) => [name, ...codes(notes)])).toEqual([
      ["My-Server", "RENAMED"],
      ["My-Server-2", "RENAMED"],
      ["s-p_q-2", "RENAMED"],
    ]);
  });

  it("takes a network server on loopback, and says that another one needs its fingerprint", async () => {
    const near = await one({ type: "sse", url: "http://localhost:9000/sse" });
    expect(near.server).toEqual({
      transport: "http-sse",
      url: "http://localhost:9000/sse",
      tlsFingerprint: "unpinned",
    });
    const far = await one({ url: "https://example.com/mcp?key=s3cret", headers: { Authorization: "Bearer s3cret" } });
    expect(far.server).toBeUndefined();
    expect(codes(far.notes)).toEqual(["KEY_NOT_TAKEN", "NETWORK_SERVER"]);
    expect(JSON.stringify(far.notes)).not.toContain("s3cret");
  });

  it.each([
    { name: "arguments that are no list", entry: { command: "x", args: "a b" }, message: "args must be a list" },
    { name: "a number as argument", entry: { command: "x", args: [1] }, message: "args[0] must be a text" },
    { name: "an empty command", entry: { command: "" }, message: "command must be" },
    { name: "an entry that is a text", entry: "node x", message: "must be" },
  ])("does not take $name and says why", async ({ entry, message }) => {
    const server = await one(entry);
    expect(server.server).toBeUndefined();
    expect(server.notes).toEqual([{ code: "NOT_VALID", message: expect.stringContaining(message) }]);
  });

  it("gives entries that the catalog reader accepts, whatever the client's file holds", async () => {
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom("node", "npx", "http://localhost/x", true, 1),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const keys = [
      "command",
      "args",
      "env",
      "cwd",
      "url",
      "type",
      "timeout",
      "tool_timeout_sec",
      "includeTools",
      "enabled",
      "x",
    ];
    const entry = fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 6 });
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string({ unit: "binary" }), entry, { maxKeys: 4 }), async (mcpServers) => {
        const report = await importClientConfig(JSON.stringify({ mcpServers }), "a.json");
        const taken = report.servers.flatMap(({ name, server }) => (server === undefined ? [] : [[name, server]]));
        expect(report.servers).toHaveLength(Object.keys(mcpServers).length);
        expect(readCatalog(JSON.stringify({ version: 1, servers: Object.fromEntries(taken) }))).toMatchObject({
          ok: true,
        });
        for (const { server, notes } of report.servers) expect(server !== undefined || notes.length > 0).toBe(true);
      }),
      { numRuns: scaledCount("client configurations", 40_000) },
    );
  }, 120_000);
});
