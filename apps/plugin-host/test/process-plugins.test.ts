import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { serve, talk } from "./plugin-host.js";
import { invoke, livingIn, logged, makeProcessWorld } from "./process-world.js";

const world = makeProcessWorld();
const secret = "payload-that-nobody-logs";

const guard = `
import os
from berth_plugin import serve_plugin

def decide(hook, call):
    name = hook.payload["name"]
    if name == "die":
        os._exit(7)
    if name == "rm":
        return {"continue_processing": False, "violation": {
            "reason": "no rm", "description": "rm is not allowed", "code": "NO_RM", "details": {"name": "rm"}}}
    if name == "home":
        seen = os.path.exists(hook.payload["args"]["path"])
        return {"continue_processing": True, "modified_payload": {"name": "home", "args": {"seen": seen, "pid": os.getpid()}}}
    if name == "change":
        return {"continue_processing": True, "modified_payload": {**hook.payload, "args": {"seen": True}}}

serve_plugin(NAME, "1.0.0", hooks={"tool_pre_invoke": decide})
`;
const dies = `
import sys
sys.exit("cannot go on")
`;
/** Without an MCP half. */
function hooksOnly(folder: string, name: string): void {
  const manifest = { name, version: "1.0.0", protocol: 1, process: { command: "./bin/plugin" }, mcp: false };
  writeFileSync(join(folder, "plugin.json"), JSON.stringify(manifest));
}

beforeAll(async () => {
  for (const name of ["guard", "changed", "outside"]) hooksOnly(await world.python(name, guard), name);
  await world.python("dies", dies);
});
/** Each starts a host or several. */
const confined = (title: string, test: () => unknown): void => partTest("bubblewrap", "python3")(title, test, 120_000);

describe("invoke with a process plugin", () => {
  const { path, options } = world.state("invoke");
  // It names no hooks: it has those that the plugin takes.
  const config = (): string => world.config("guard.yaml", { guard: "dir: guard" });
  const named = (): string => world.config("named.yaml", { guard: "dir: guard, hooks: [tool_pre_invoke]" });

  confined("ends with 3 and the plugin's reason when it denies, whether its entry names the hook or not", async () => {
    for (const file of [config(), named()]) {
      const { code, stdout } = await invoke(options, file, { name: "rm", args: { secret } });
      expect(code).toBe(3);
      expect(JSON.parse(stdout)).toMatchObject({ allowed: false, violation: { code: "NO_RM", plugin: "guard" } });
    }
  });

  confined("gives the payload that the plugin allowed or changed", async () => {
    const allowed = await invoke(options, config(), { name: "add", args: { secret } });
    expect(allowed.code).toBe(0);
    expect(JSON.parse(allowed.stdout)).toMatchObject({ allowed: true, payload: { name: "add", args: { secret } } });
    const changed = await invoke(options, config(), { name: "change", args: {} });
    expect(JSON.parse(changed.stdout)).toMatchObject({ payload: { name: "change", args: { seen: true } } });
  });

  confined("runs it in a sandbox, and says so in the log, which has no payload", async () => {
    const hidden = join(world.folder, "hidden");
    writeFileSync(hidden, "of the host");
    const { stdout } = await invoke(options, config(), { name: "home", args: { path: hidden, secret } });
    expect(JSON.parse(stdout)).toMatchObject({ payload: { args: { seen: false } } });
    const entries = await logged(path, "plugin.");
    const admitted = entries.find(({ type }) => type === "plugin.admitted");
    expect(admitted).toMatchObject({
      plugin: "guard",
      version: "1.0.0",
      digest: expect.stringMatching(/^tree-v1:[0-9a-f]{64}$/u),
      confinement: "bubblewrap",
    });
    const digest = admitted?.["digest"];
    const same = { plugin: "guard", instance: admitted?.["instance"] };
    expect(entries).toContainEqual(expect.objectContaining({ ...same, type: "plugin.started" }));
    expect(entries).toContainEqual(expect.objectContaining({ ...same, digest, type: "plugin.decision" }));
    const ended = { ...same, type: "plugin.ended", reason: "destroyed", code: 0, confirmed: true };
    expect(entries).toContainEqual(expect.objectContaining(ended));
    expect(JSON.stringify(entries)).not.toContain(secret);
  });

  confined("is told what the plugin takes when the entry names another hook, and denied by on_error", async () => {
    const other = world.config("other.yaml", { guard: "dir: guard, hooks: [tool_pre_invoke, prompt_pre_fetch]" });
    const { code, stdout } = await invoke(options, other, { name: "add" });
    expect(code).toBe(3);
    expect(stdout).toContain("does not take prompt_pre_fetch");
  });
});

describe("an entry of the kind process", () => {
  const { path, options } = world.state("entries");

  it("is refused with every fault and its line, before anything is started", async () => {
    const config = world.config("faults.yaml", {
      a__b: "dir: guard",
      second: "dirr: guard, digest: abc, limits: { memory: 1 }, allow_unconfined: perhaps",
    });
    const { code, stderr } = await invoke(options, config, { name: "add" });
    expect(code).toBe(2);
    for (const fault of [
      "line 2: plugin a__b: name:",
      "line 3: plugin second: dirr is no key",
      "line 3: plugin second: dir is",
      "line 3: plugin second: digest is not",
      "line 3: plugin second: limits.memory is no limit",
      "line 3: plugin second: allow_unconfined is neither",
    ])
      expect(stderr).toContain(fault);
  });

  confined(
    "that names no hooks and cannot be started ends the command with 1, unless its error is ignored",
    async () => {
      const config = world.config("dies.yaml", { dies: "dir: dies" });
      const { code, stderr } = await invoke(options, config, { name: "add" });
      expect(code).toBe(1);
      expect(stderr).toContain("plugins that name no hooks cannot be asked for them");
      expect(stderr).toContain("plugin dies: plugin dies ended with code 1, before it was started");
      const ignored = world.config("ignored.yaml", { dies: "dir: dies, on_error: ignore" });
      expect(await invoke(options, ignored, { name: "add" })).toMatchObject({ code: 0 });
    },
  );

  confined("with the digest of another folder is refused with both digests", async () => {
    const pinned = `tree-v1:${"0".repeat(64)}`;
    const config = world.config("pinned.yaml", { guard: `dir: guard, digest: "${pinned}"` });
    const { code, stderr } = await invoke(options, config, { name: "add" });
    expect(code).toBe(1);
    expect(stderr).toMatch(/has the digest tree-v1:[0-9a-f]{64}, and tree-v1:0{64} was admitted/u);
    const entries = await logged(path, "plugin.rejected");
    const measured = /the digest (tree-v1:[0-9a-f]{64})/u.exec(stderr)?.[1];
    expect(entries).toContainEqual(
      expect.objectContaining({ plugin: "guard", code: "PLUGIN_CHANGED", expected: pinned, measured }),
    );
    const right = world.config("right.yaml", { guard: `dir: guard, digest: "${measured}"` });
    expect(await invoke(options, right, { name: "add" })).toMatchObject({ code: 0 });
  });

  confined("whose folder is no plugin is told with every fault of it", async () => {
    const folder = await world.create("shell", "faulty");
    writeFileSync(join(folder, "plugin.json"), '{"name":"Faulty","version":"one","protocol":2,"more":1}');
    const config = world.config("faulty.yaml", { faulty: "dir: faulty" });
    const { code, stderr } = await invoke(options, config, { name: "add" });
    expect(code).toBe(1);
    for (const word of ["name", "version", "protocol", "more", "process"])
      expect(stderr).toMatch(new RegExp(`plugin faulty: .*${word}`, "u"));
  });
});

describe("serve with process plugins", () => {
  const call = (id: number, name: string, args: object = {}): object => ({
    jsonrpc: "2.0",
    id,
    method: "hooks/invoke",
    params: { hook: "tool_pre_invoke", payload: { name, args } },
  });
  const ask = (id: number, method: string): object => ({ jsonrpc: "2.0", id, method });

  confined("calls a new instance after one that crashed, and none after the third; the log has all", async () => {
    const { path, options } = world.state("crashes");
    const config = world.config("crashes.yaml", { guard: "dir: guard, hooks: [tool_pre_invoke]" });
    const client = talk({ options }, ["--config", config]);
    const instances = new Set<unknown>();
    for (let crash = 1; crash <= 3; crash += 1) {
      client.send(call(crash * 10, "add"));
      expect(await client.next()).toMatchObject({ result: { allowed: true } });
      client.send(ask(crash * 10 + 1, "plugins/health"));
      expect(await client.next()).toMatchObject({
        result: { ok: true, plugins: [{ plugin: "guard", state: "ready", process: { crashes: crash - 1 } }] },
      });
      client.send(ask(crash * 10 + 2, "plugins/list"));
      const listed: { readonly result?: { readonly plugins: readonly { readonly process: { instance: string } }[] } } =
        await client.next();
      expect(listed.result?.plugins).toMatchObject([
        {
          name: "guard",
          evidence: { confinement: "bubblewrap" },
          process: { state: "running", confinement: "bubblewrap" },
        },
      ]);
      instances.add(listed.result?.plugins[0]?.process.instance);
      client.send(call(crash * 10 + 3, "die", { secret }));
      expect(await client.next()).toMatchObject({
        result: { allowed: false, executions: [{ plugin: "guard", status: "failed" }] },
      });
    }
    expect(instances.size).toBe(3);
    client.send(call(50, "add"));
    expect(await client.next()).toMatchObject({ result: { allowed: false } });
    client.send(ask(51, "plugins/health"));
    expect(await client.next()).toMatchObject({
      result: { ok: false, plugins: [{ state: "failed", process: { state: "quarantined", crashes: 3 } }] },
    });
    expect(await client.end()).toBe(0);
    const entries = await logged(path, "plugin.");
    const ends = entries.filter(({ type }) => type === "plugin.ended");
    expect(ends.map(({ reason, code }) => ({ reason, code }))).toEqual(Array(3).fill({ reason: "crashed", code: 7 }));
    expect(entries).toContainEqual(
      expect.objectContaining({ type: "plugin.quarantined", plugin: "guard", crashes: 3, withinMs: 60_000 }),
    );
    expect(JSON.stringify(entries)).not.toContain(secret);
  });

  confined("tells at /health and /metrics which plugin is held back", async () => {
    const { options } = world.state("metrics");
    const config = world.config("metrics.yaml", { guard: "dir: guard, hooks: [tool_pre_invoke], on_error: ignore" });
    const { url } = await serve({ options }, ["--config", config]);
    const post = (body: object): Promise<Response> =>
      fetch(`${url}/rpc`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    for (const id of [1, 2, 3]) expect((await post(call(id, "die"))).status).toBe(200);
    const health = await fetch(`${url}/health`);
    expect(health.status).toBe(503);
    expect(await health.json()).toEqual({ ok: false, plugins: { guard: "failed" } });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('plugin_host_plugins{state="failed"} 1');
    expect(metrics).toContain('plugin_host_process_state{plugin="guard",state="quarantined"} 1');
    expect(metrics).toContain('plugin_host_process_crashes{plugin="guard"} 3');
  });

  confined("refuses one whose folder changed meanwhile", async () => {
    const { options } = world.state("changed-state");
    const config = world.config("changed.yaml", { changed: "dir: changed, hooks: [tool_pre_invoke]" });
    const client = talk({ options }, ["--config", config]);
    client.send(call(1, "die"));
    expect(await client.next()).toMatchObject({ result: { allowed: false } });
    writeFileSync(join(world.folder, "changed", "more.txt"), "more");
    client.send(call(2, "add"));
    expect(await client.next()).toMatchObject({ result: { allowed: false } });
    client.send(ask(3, "plugins/health"));
    expect(await client.next()).toMatchObject({
      result: { ok: false, plugins: [{ state: "failed", process: { state: "rejected" } }] },
    });
    rmSync(join(world.folder, "changed", "more.txt"));
    expect(await client.end()).toBe(0);
  });

  confined("ends with 0, and leaves nothing, when it is told to while a plugin says nothing", async () => {
    const { options } = world.state("mute-state");
    const mute = world.executable("mute", "#!/bin/sh\nsleep 600\n");
    const client = talk({ options }, ["--config", world.config("mute.yaml", { mute: "dir: mute" })]);
    await expect.poll(() => livingIn(join(mute, "bin")), { timeout: 20_000 }).not.toEqual([]);
    expect(await client.terminate()).toBe(0);
    expect(livingIn(join(mute, "bin"))).toEqual([]);
  });

  confined("leaves no process of a plugin when it is killed", async () => {
    const { options } = world.state("killed");
    const config = world.config("killed.yaml", { guard: "dir: guard" });
    const served = await serve({ options }, ["--config", config]);
    const own = join(world.folder, "guard");
    expect(livingIn(own)).not.toEqual([]);
    await served.kill();
    await expect.poll(() => livingIn(own), { timeout: 15_000 }).toEqual([]);
  });
});

describe("allow_unconfined", () => {
  partTest("python3")(
    "is told in the log, in what is listed, and by a warning",
    async () => {
      const { path, options } = world.state("outside-state");
      const config = world.config("outside.yaml", { outside: "dir: outside, allow_unconfined: true" });
      const client = talk({ options }, ["--config", config]);
      client.send({ jsonrpc: "2.0", id: 1, method: "plugins/list" });
      expect(await client.next()).toMatchObject({
        result: { plugins: [{ evidence: { confinement: "unconfined" }, process: { confinement: "unconfined" } }] },
      });
      expect(await client.end()).toBe(0);
      expect(await logged(path, "plugin.admitted")).toMatchObject([{ plugin: "outside", confinement: "unconfined" }]);
      const told = await invoke(options, config, { name: "add" });
      expect(told.stderr).toContain("allow_unconfined: it runs without a sandbox");
    },
    120_000,
  );
});
