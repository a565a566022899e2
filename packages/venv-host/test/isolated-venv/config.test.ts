import { describe, expect, it } from "vitest";
import { readPluginsConfig } from "../../src/executor/config/read-plugins-config.js";
import { createPluginHost } from "../../src/executor/create-plugin-host.js";
import type { JsonObject } from "../../src/executor/json.js";
import { isolatedVenv } from "../../src/isolated-venv/isolated-venv.js";
import { readBlock } from "../../src/isolated-venv/read-block.js";
import { readWorkerOptions } from "../../src/worker/worker-terms.js";
import { callOf, configOf, entryOf, makeCwd, makeEnvironment, openPlugin, taskOf } from "./plugins.js";

const kind = isolatedVenv({ acquire: async () => makeEnvironment(), cwd: "/" });
const confining = isolatedVenv({
  acquire: async () => makeEnvironment(),
  cwd: "/",
  confine: async () => Promise.reject(new Error()),
});
const block = (more: JsonObject): { readonly config: JsonObject } => ({ config: { class_name: "a.B", ...more } });

describe("the configuration block", () => {
  it.each([
    {
      name: "no block",
      more: { config: undefined },
      faults: [/^config: plugin the-plugin has none, and class_name is required$/u],
    },
    {
      name: "no class_name",
      more: { config: {} },
      faults: [/^config.class_name: plugin the-plugin has none; it is required$/u],
    },
    {
      name: "a class without a module",
      more: { config: { class_name: "Filter" } },
      faults: [/^config.class_name must be a module/u],
    },
    { name: "a path as class", more: { config: { class_name: "../x.Y" } }, faults: [/^config.class_name must/u] },
    { name: "no hooks", more: { hooks: [] }, faults: [/^hooks: plugin the-plugin has none/u] },
    {
      name: "a script out of site-packages",
      more: block({ script_path: "../../x.py" }),
      faults: [/^config.script_path/u],
    },
    {
      name: "requirements out of the folder",
      more: block({ requirements_file: "../r.txt" }),
      faults: [/^config.requirements_file/u],
    },
    {
      name: "sizes",
      more: block({ max_content_size: 12.5, pool: 0 }),
      faults: [/^config.max_content_size/u, /^config.pool/u],
    },
    {
      name: "a time",
      more: block({ timeout_secs: "30" }),
      faults: [/^config.timeout_secs must be a number from 0.001 to 600$/u],
    },
    { name: "a text", more: block({ interpreter: 3 }), faults: [/^config.interpreter must be a text/u] },
    { name: "confine, in a host without it", more: block({ confine: true }), faults: [/this host cannot confine/u] },
  ])("$name is a fault that names the key", ({ more, faults }) => {
    expect(kind.check(entryOf("Echo", more))).toEqual(faults.map((fault) => expect.stringMatching(fault)));
  });

  it.each([
    { name: "only class_name", more: block({}) },
    { name: "unknown keys", more: block({ anything: { of: ["the", "plugin"] } }) },
    { name: "nulls", more: block({ requirements_file: null, timeout_secs: null, confine: null }) },
    {
      name: "all keys",
      more: block({
        requirements_file: "r.txt",
        script_path: "/w.py",
        max_content_size: 2_000,
        timeout_secs: 0.5,
        interpreter: "python3.11",
        pool: 4,
        confine: false,
      }),
    },
    { name: "two dots in a name", more: block({ requirements_file: "a..b/..r.txt" }) },
  ])("$name: good", ({ more }) => {
    expect(kind.check(entryOf("Echo", more))).toEqual([]);
  });

  it.each([
    { name: "true", confine: true, faults: [] },
    { name: "paths", confine: { network: "host", readable: ["/a"], writable: ["/b"] }, faults: [] },
    { name: "a misspelled key", confine: { writeable: ["/b"] }, faults: [/has no writeable/u] },
    { name: "a relative path", confine: { writable: ["b"] }, faults: [/writable must be a list/u] },
    { name: "another network", confine: { network: "some" }, faults: [/network must be/u] },
    { name: "a text", confine: "yes", faults: [/must be true, false/u] },
  ])("confine as $name", ({ confine, faults }) => {
    expect(confining.check(entryOf("Echo", block({ confine })))).toEqual(
      faults.map((fault) => expect.stringMatching(fault)),
    );
  });

  it("a network that the confinement of this host cannot give is a fault, before anything is started", async () => {
    const confine = Object.assign(async () => Promise.reject(new Error("asked")), { networks: ["none"] as const });
    const kind = isolatedVenv({ acquire: async () => makeEnvironment(), cwd: "/", confine });
    const entry = (network: string) => entryOf("Echo", block({ confine: { network } }));
    expect(kind.check(entry("none"))).toEqual([]);
    const fault = "config.confine.network: a confined worker cannot have host here, only none";
    expect(kind.check(entry("host"))).toEqual([fault]);
    await expect(openPlugin(entry("host"), { confine })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: fault,
    });
  });

  it("open refuses what check would have told", async () => {
    await expect(openPlugin(entryOf("Echo", { config: undefined }))).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(openPlugin(entryOf("Echo", block({ confine: true })))).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
    expect(() => isolatedVenv({ acquire: async () => makeEnvironment(), cwd: "here" })).toThrow(/absolute/u);
  });
});

describe("the task that a worker receives", () => {
  it("has the plugin folder, the class, the hook, the payload and the context", async () => {
    const cwd = makeCwd();
    const plugin = await openPlugin(entryOf("Echo"), { cwd });
    expect(await taskOf(plugin, callOf({ name: "t", args: {} }))).toEqual({
      task_type: "load_and_run_hook",
      plugin_dirs: [`${cwd}/plugins`],
      class_name: "cpex_stub.Echo",
      config: expect.any(String),
      plugin_name: "the-plugin",
      hook_type: "tool_pre_invoke",
      payload: { name: "t", args: {} },
      context: {
        state: { a: 1 },
        global_context: { request_id: "r-1", user: "ann", state: {}, metadata: {} },
        metadata: {},
      },
      request_id: expect.any(String),
    });
  });

  it("has the defaults of what the block leaves out", async () => {
    expect(readBlock(entryOf("Echo", block({})))).toEqual({
      ok: true,
      block: {
        className: "a.B",
        requirementsFile: undefined,
        scriptPath: "cpex/framework/isolated/worker.py",
        maxContentBytes: undefined,
        callTimeoutMs: undefined,
        interpreter: undefined,
        pool: 1,
        confine: undefined,
      },
    });
    const plugin = await openPlugin(entryOf("Echo"));
    expect(configOf(await taskOf(plugin, callOf({})))).toMatchObject({ max_content_size: 10_000_001 });
    const worker = { python: "/python", script: "/worker.py", cwd: "/", env: {} };
    expect(readWorkerOptions(worker).limits).toMatchObject({ maxContentBytes: 10_000_000, callTimeoutMs: 30_000 });
  });

  it("has a configuration without mode, on_error, priority and version, and with the size limit", async () => {
    const config = { class_name: "cpex_stub.Echo", words: ["a"], max_content_size: 5_000 };
    const plugin = await openPlugin(entryOf("Echo", { config, mode: "audit", onError: "ignore", version: "1" }));
    expect(configOf(await taskOf(plugin, callOf({})))).toEqual({
      name: "the-plugin",
      kind: "isolated_venv",
      hooks: ["tool_pre_invoke"],
      capabilities: [],
      config,
      max_content_size: 5_001,
    });
  });

  it.each([
    {
      name: "known ones are forwarded",
      capabilities: ["read_labels", "append_labels"],
      sent: ["read_labels", "append_labels"],
    },
    { name: "those of the host are dropped", capabilities: ["read_client", "read_headers"], sent: ["read_headers"] },
    { name: "none are an empty list", capabilities: [], sent: [] },
  ])("capabilities: $name", async ({ capabilities, sent }) => {
    const plugin = await openPlugin(entryOf("Echo", { capabilities }));
    expect(configOf(await taskOf(plugin, callOf({})))).toMatchObject({ capabilities: sent });
  });

  it("plugin_dirs of the block is the plugin's own business: the worker receives ours", async () => {
    const cwd = makeCwd();
    const config = { class_name: "cpex_stub.Echo", plugin_dirs: ["/etc"] };
    const plugin = await openPlugin(entryOf("Echo", { config }), { cwd });
    expect(await taskOf(plugin, callOf({}))).toMatchObject({ plugin_dirs: [`${cwd}/plugins`] });
  });

  it("plugin_dirs of the file and of the block warn, and change nothing", async () => {
    const { warnings } = await readPluginsConfig(
      "plugin_dirs: [/etc]\nplugins:\n  - name: p\n    kind: isolated_venv\n    hooks: [tool_pre_invoke]\n    config: {class_name: a.B, plugin_dirs: [/etc]}\n",
    );
    expect(warnings.filter((warning) => warning.includes("plugin_dirs"))).toHaveLength(2);
  });

  it("stays the same byte by byte: the plugin is made once", async () => {
    const plugin = await openPlugin(entryOf("Echo", { hooks: ["tool_pre_invoke", "tool_post_invoke"] }));
    const tasks = [
      await taskOf(plugin, callOf({ n: 1 })),
      await taskOf(plugin, callOf({}, { hook: "tool_post_invoke" })),
    ];
    expect(tasks[0]?.["config"]).toBe(tasks[1]?.["config"]);
    const { metadata } = await plugin.call(callOf({}), {});
    expect(metadata).toMatchObject({ made: 1 });
  });

  it("has a cmf payload as it is", async () => {
    const plugin = await openPlugin(entryOf("Echo"));
    const message = { schema_version: "2.0", role: "user", content: [{ content_type: "text", text: "hi" }] };
    const task = await taskOf(plugin, callOf({ message }, { hook: "cmf.tool_pre_invoke" }));
    expect(task).toMatchObject({ hook_type: "cmf.tool_pre_invoke", payload: { message } });
  });

  it("has the extensions that the executor gives, and none when there are none", async () => {
    const plugin = await openPlugin(entryOf("Echo"));
    expect(await taskOf(plugin, callOf({}, { extensions: { custom: { a: 1 } } }))).toMatchObject({
      extensions: { custom: { a: 1 } },
    });
    expect(await taskOf(plugin, callOf({}))).not.toHaveProperty("extensions");
  });
});

it("a host of plugins.yaml runs it", async () => {
  const config = await readPluginsConfig(
    "plugins:\n  - name: no\n    kind: isolated_venv\n    hooks: [tool_pre_invoke]\n    config: {class_name: cpex_stub.Deny}\n",
  );
  const environment = makeEnvironment();
  await using host = await createPluginHost({
    config,
    kinds: [isolatedVenv({ acquire: async () => environment, cwd: makeCwd() })],
  });
  const outcome = await host.run({
    hook: "tool_pre_invoke",
    payload: { name: "t", args: {} },
    globalContext: { state: {}, metadata: {} },
  });
  expect(JSON.stringify(outcome)).toContain("MONDAY");
});
