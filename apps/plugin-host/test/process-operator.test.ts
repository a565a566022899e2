import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StreamableHTTPClientTransport as Http2, Client as Sdk2 } from "@modelcontextprotocol/client";
import { beforeAll, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { loadPlugins } from "../src/plugins-file.js";
import { type Served, serve } from "./plugin-host.js";
import { invoke, logged, makeProcessWorld } from "./process-world.js";
import { rawPlugin } from "./raw-plugin.js";

const world = makeProcessWorld();
const secret = "payload-that-nobody-logs";

const words = `
def tools(request):
    answer(request, {"resultType": "complete", "ttlMs": 0, "cacheScope": "public",
        "tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("good", "bad", "error", "garbage", "hang")]})
def call(request, name, params):
    if name == "good": complete(request, "fine")
    elif name == "bad": complete(request, "not fine", isError=True)
    elif name == "error": say({"id": request["id"], "error": {"code": -31500, "message": "of its own"}})
    elif name == "garbage": raw("no JSON \\x1b[31m" + str(os.getpid()))
`;

beforeAll(() => {
  world.executable("words", rawPlugin("words", words));
});

interface Told {
  readonly level: number;
  readonly plugin?: string;
  readonly msg?: string;
  readonly err?: unknown;
}

/** What was logged so far at warn or above. */
function told(served: Served): readonly Told[] {
  const lines = served.said().flatMap((line): Told[] => (line.startsWith("{") ? [JSON.parse(line)] : []));
  return lines.filter(({ level }) => level >= 40);
}

async function connected(url: string, use: (client: Sdk2) => Promise<void>): Promise<void> {
  const client = new Sdk2({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new Http2(new URL(`${url}/mcp`)));
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

const confined = (title: string, test: () => unknown): void => partTest("bubblewrap", "python3")(title, test, 120_000);

describe("what an operator sees of process plugins", () => {
  confined("each call of a tool is in the log and in the figures, with digests and without payloads", async () => {
    const { options, path } = world.state("calls");
    const served = await serve({ options }, ["--config", world.config("calls.yaml", { yaml: "dir: words" })]);
    await connected(served.url, async (client) => {
      await client.callTool({ name: "yaml__good", arguments: { secret } });
      await client.callTool({ name: "yaml__bad" });
      await expect(client.callTool({ name: "yaml__error" })).rejects.toThrow();
    });
    const metrics = await (await fetch(`${served.url}/metrics`)).text();
    for (const outcome of ["result", "tool-error", "error"])
      expect(metrics).toContain(`plugin_host_tool_calls_total{plugin="yaml",outcome="${outcome}"} 1`);
    expect(await served.end()).toBe(0);
    const entries = await logged(path, "call.");
    expect(entries.map(({ type, tool, status }) => [type, tool, status])).toEqual([
      ["call.intent", "good", undefined],
      ["call.outcome", "good", "result"],
      ["call.intent", "bad", undefined],
      ["call.outcome", "bad", "tool-error"],
      ["call.intent", "error", undefined],
      ["call.outcome", "error", "error"],
    ]);
    const [intent, outcome] = entries;
    const about = { plugin: "yaml", principal: "local", door: "mcp", instance: expect.stringMatching(/^plugin-/u) };
    expect(intent).toMatchObject({ ...about, paramsDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/u) });
    const result = '{"resultType":"complete","content":[{"type":"text","text":"fine"}]}';
    const resultDigest = `sha256:${createHash("sha256").update(result).digest("hex")}`;
    expect(outcome).toMatchObject({ ...about, intent: intent?.["seq"], resultBytes: result.length, resultDigest });
    expect(JSON.stringify(entries)).not.toContain(secret);
    expect(JSON.stringify(entries)).not.toContain("fine");
  });

  confined(
    "an end of a plugin's own is one line with the reason, an escaped excerpt, the count and what is next",
    async () => {
      const { options } = world.state("ends");
      const served = await serve({ options }, ["--config", world.config("ends.yaml", { yaml: "dir: words" })]);
      expect(told(served)).toEqual([]);
      await connected(served.url, async (client) => {
        for (let end = 1; end <= 3; end += 1)
          await expect(client.callTool({ name: "yaml__garbage" })).rejects.toMatchObject({
            code: -31102,
            message: expect.stringContaining("plugin yaml broke the protocol and was ended"),
          });
        await expect(client.callTool({ name: "yaml__good" })).rejects.toMatchObject({
          data: { code: "PLUGIN_QUARANTINED" },
        });
      });
      const lines = told(served);
      expect(lines.map(({ level, plugin }) => [level, plugin])).toEqual([
        [40, "yaml"],
        [40, "yaml"],
        [50, "yaml"],
      ]);
      expect(lines[0]?.msg).toMatch(
        /^plugin yaml ended: it wrote .* \("no JSON \\\\u001b\[31m\d+"\); the next call starts it again, 1 of 3 within 60 s$/u,
      );
      expect(lines[1]?.msg).toContain("2 of 3 within 60 s");
      expect(lines[2]?.msg).toContain("it is held back after 3 ends within 60 s: find out why");
      expect(lines.every(({ err }) => err === undefined)).toBe(true);
    },
  );

  confined("a changed plugin is told to its operator with the digest to set, and to clients without any", async () => {
    const { options } = world.state("changed");
    const pinned = `tree-v1:${"0".repeat(64)}`;
    const entry = `dir: words, digest: "${pinned}", on_error: ignore`;
    const served = await serve({ options }, ["--config", world.config("changed.yaml", { yaml: entry })]);
    const lines = told(served).filter(({ msg }) => msg?.includes("does not start"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: 50, plugin: "yaml" });
    expect(lines[0]?.msg).toMatch(/set `digest: tree-v1:[0-9a-f]{64}` in its entry/u);
  });

  confined("a hook of a plugin that may not run is denied to clients without paths or digests", async () => {
    const { options } = world.state("denied");
    const entry = `dir: words, hooks: [tool_pre_invoke], digest: "tree-v1:${"0".repeat(64)}"`;
    const served = await serve({ options }, ["--config", world.config("denied.yaml", { yaml: entry })]);
    const params = { hook: "tool_pre_invoke", payload: { name: "add" } };
    const response = await fetch(`${served.url}/rpc`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "hooks/invoke", params }),
    });
    const answer = await response.text();
    expect(JSON.parse(answer)).toMatchObject({ result: { allowed: false } });
    expect(answer).toContain("plugin yaml is refused: it is not what was admitted");
    expect(answer).not.toMatch(/tree-v1|bph-process/u);
    expect(told(served).filter(({ msg }) => msg?.includes("tree-v1"))).toHaveLength(1);
  });

  confined(
    "what a plugin left in the place of its home is told once, with the path to remove, and without a stack",
    async () => {
      const { options, path } = world.state("home");
      const place = join(path, "plugins", "yaml", "home");
      for (const entry of ["dir: words", "dir: words, on_error: ignore"]) {
        const config = world.config("home.yaml", { yaml: entry });
        const { code } = await invoke(options, config, { name: "add" });
        rmSync(place, { recursive: true });
        symlinkSync("/etc", place);
        const second = await invoke(options, config, { name: "add" });
        expect([code, second.code]).toEqual([0, entry === "dir: words" ? 1 : 0]);
        expect(second.stderr.split("is a link or a file")).toHaveLength(2);
        expect(second.stderr).toContain(`then remove ${place}`);
        expect(second.stderr).not.toMatch(/^\s+at |stack/mu);
        rmSync(place);
      }
    },
  );
});

describe("a configuration of process plugins", () => {
  it("is refused with 2 for a folder that is not there, whatever else is wrong, and no state is made", async () => {
    const { options, path } = world.state("no-folder");
    const config = world.config("no-folder.yaml", { first: "dir: nowhere", second: "dir: not-here/either" });
    const { code, stderr } = await invoke(options, config, { name: "add" });
    expect(code).toBe(2);
    expect(stderr).toContain(`line 2: plugin first: dir: there is no folder ${join(world.folder, "nowhere")}`);
    expect(stderr).toContain("line 3: plugin second: dir: there is no folder");
    expect(existsSync(path)).toBe(false);
  });

  it("is refused where the state folder would lie in a plugin's folder, also through a link, and nothing is made", async () => {
    const config = world.config("inside.yaml", { yaml: "dir: words" });
    symlinkSync(join(world.folder, "words"), join(world.folder, "link"));
    for (const state of ["words/state", "link/more/state"]) {
      const { code, stderr } = await invoke(["--state", join(world.folder, state)], config, { name: "add" });
      expect(code).toBe(2);
      expect(stderr).toContain(`lies in the folder of plugin yaml, which it would change`);
    }
    expect(readdirSync(join(world.folder, "words")).sort()).toEqual(["bin", "plugin.json"]);
  });

  it("has no warnings about keys of the kind process, and one where they stand in an entry of another kind", async () => {
    const path = join(world.folder, "keys.yaml");
    const keys = "digest: x, interpreters: [], read_only: [], allow_unconfined: true, limits: {}, timeouts: {}";
    const entries = [
      `  - { name: yaml, kind: process, dir: words, ${keys} }`,
      "  - { name: other, kind: isolated_venv, hooks: [a], digest: x, misspelt: 1 }",
    ];
    writeFileSync(path, `plugins:\n${entries.join("\n")}\n`);
    const { warnings } = await loadPlugins(path);
    expect(warnings).toEqual([
      "line 3: plugins.1.misspelt is an unknown key",
      "line 3: plugin other: digest is no key of the kind isolated_venv, and does nothing",
    ]);
  });
});
