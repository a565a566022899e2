import { expect, it } from "vitest";
import { createPluginHost, inProcess, type PluginEntry, readPluginsConfig } from "../../src/executor.js";
import { faultsOf } from "./faults.js";
import { entryOf as entryWith, settings } from "./hosts.js";

async function entryOf(lines: string): Promise<PluginEntry | undefined> {
  const body = lines
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
  return (await readPluginsConfig(`plugins:\n  - name: p\n    kind: test\n    hooks: [tool_pre_invoke]\n${body}\n`))
    .plugins[0];
}

it.each([{ text: "" }, { text: "plugins:" }, { text: "plugins: []\nplugin_settings:\n" }, { text: "# nothing\n" }])(
  "reads $text as a host without plugins, with the defaults",
  async ({ text }) => {
    expect(await readPluginsConfig(text)).toEqual({
      plugins: [],
      file: undefined,
      settings: {
        pluginTimeoutMs: 30_000,
        shortCircuitOnDeny: true,
        parallelWithinBand: false,
        failOnPluginError: false,
      },
      warnings: [],
    });
  },
);

it("fills in the defaults of an entry", async () => {
  expect(await entryOf("conditions: ~")).toEqual({
    name: "p",
    kind: "test",
    hooks: ["tool_pre_invoke"],
    mode: "sequential",
    priority: 100,
    onError: "fail",
    capabilities: [],
    conditions: [],
    description: undefined,
    author: undefined,
    version: undefined,
    tags: [],
    config: undefined,
    more: {},
    line: 2,
  });
});

it("reads every key of an entry and of the settings", async () => {
  const config = await readPluginsConfig(`
plugin_settings: { plugin_timeout: 1.5, short_circuit_on_deny: false, parallel_execution_within_band: true, fail_on_plugin_error: true, route_cache_max_entries: 5 }
plugins:
  - name: pii
    kind: isolated_venv
    description: d
    author: a
    version: 1.0
    hooks: [tool_pre_invoke, cmf.llm_input]
    mode: concurrent
    priority: -5
    on_error: disable
    capabilities: [read_headers, append_labels, read_inbound_credentials]
    tags: [one]
    conditions:
      - { server_ids: [s], tenant_ids: [t], tools: [x], prompts: [p], resources: [r], agents: [a], user_patterns: [u], content_types: [c] }
    dir: plugins/pii
    config: { class_name: pii.Filter, nested: { list: [1, null, true] } }
`);
  expect(config.warnings).toEqual([]);
  expect(config.settings).toEqual({
    pluginTimeoutMs: 1_500,
    shortCircuitOnDeny: false,
    parallelWithinBand: true,
    failOnPluginError: true,
  });
  expect(config.plugins).toEqual([
    {
      name: "pii",
      kind: "isolated_venv",
      description: "d",
      author: "a",
      version: "1",
      hooks: ["tool_pre_invoke", "cmf.llm_input"],
      mode: "concurrent",
      priority: -5,
      onError: "disable",
      capabilities: ["read_headers", "append_labels", "read_inbound_credentials"],
      tags: ["one"],
      conditions: [
        {
          serverIds: ["s"],
          tenantIds: ["t"],
          tools: ["x"],
          prompts: ["p"],
          resources: ["r"],
          agents: ["a"],
          userPatterns: ["u"],
          contentTypes: ["c"],
        },
      ],
      config: { class_name: "pii.Filter", nested: { list: [1, null, true] } },
      more: { dir: "plugins/pii" },
      line: 4,
    },
  ]);
});

it.each([
  { lines: "mode: enforce", mode: "sequential", onError: "fail" },
  { lines: "mode: enforce_ignore_error", mode: "sequential", onError: "ignore" },
  { lines: "mode: enforce_ignore_error\non_error: disable", mode: "sequential", onError: "disable" },
  { lines: "mode: permissive", mode: "transform", onError: "fail" },
  { lines: "mode: fire_and_forget\non_error: ignore", mode: "fire_and_forget", onError: "ignore" },
])("takes $lines as $mode and $onError", async ({ lines, mode, onError }) => {
  expect(await entryOf(lines)).toMatchObject({ mode, onError });
});

it("takes a class path as kind as class_name of an isolated_venv plugin, and tells so", async () => {
  const config = await readPluginsConfig(`
plugins:
  - { name: a, kind: pkg.filters.PIIFilter, hooks: [tool_pre_invoke], config: { deny: true } }
  - { name: b, kind: pkg.Filter, hooks: [tool_pre_invoke], config: { class_name: other.Filter } }
  - { name: c, kind: pkg.filters.lower, hooks: [tool_pre_invoke] }
  - { name: d, kind: pkg..Filter, hooks: [tool_pre_invoke] }
`);
  expect(config.plugins.map(({ kind, config: block }) => [kind, block])).toEqual([
    ["isolated_venv", { deny: true, class_name: "pkg.filters.PIIFilter" }],
    ["isolated_venv", { class_name: "other.Filter" }],
    ["pkg.filters.lower", undefined],
    ["pkg..Filter", undefined],
  ]);
  expect(config.warnings).toHaveLength(2);
  expect(config.warnings[0]).toBe(
    "line 3: kind pkg.filters.PIIFilter is a class path; it is taken as class_name of kind isolated_venv",
  );
});

it("warns of what nobody reads, with its line, and of plugin_dirs at both levels", async () => {
  const config = await readPluginsConfig(
    `plugin_dirs: [plugins]
routes: [{ tool: x }]
server_settings: {}
brand_new: 1
plugin_settings:
  plugin_timeout: 5
  colour: red
plugins:
  - name: p
    kind: test
    hooks: [a, a]
    plugin_dirs: [x]
    capabilities: [read_all, read_headers]
    namespace: mine
    mine: 1
    typo: 2
    conditions:
      - tool: [x]
    config:
      plugin_dirs: [y]
      free: 1
  - name: idle
    kind: test
`,
    { entryKeys: ["mine"] },
  );
  expect(config.warnings).toEqual([
    "line 1: plugin_dirs is ignored: the code of plugins is found in <cwd>/plugins, or in their environments",
    "line 2: routes is ignored, as routing is not enabled",
    "line 3: server_settings is of another host, and ignored",
    "line 4: brand_new is an unknown key",
    "line 7: plugin_settings.colour is an unknown key",
    "line 11: a hook is listed twice; it runs once",
    "line 12: plugins.0.plugin_dirs is ignored: the code of plugins is found in <cwd>/plugins, or in their environments",
    "line 13: capability read_all is unknown and opens nothing",
    "line 16: plugins.0.typo is an unknown key",
    "line 18: plugins.0.conditions.0.tool is an unknown key",
    "line 20: plugins.0.config.plugin_dirs is ignored: the code of plugins is found in <cwd>/plugins, or in their environments",
    "line 22: plugin idle names no hooks: it runs only if its kind knows them",
  ]);
  expect(config.plugins[0]).toMatchObject({
    hooks: ["a"],
    capabilities: ["read_headers"],
    more: { namespace: "mine", mine: 1, typo: 2 },
  });
});

it("tells all faults at once, each with its line", async () => {
  const faults = await faultsOf(`plugin_settings:
  routing_enabled: true
  plugin_timeout: soon
plugins:
  - name: p
    kind: 5
    mode: sometimes
  - kind: test
    priority: high
  - name: p
    kind: test
    on_error: explode
    hooks: tool_pre_invoke
    conditions: [{ tools: add }]
`);
  expect(faults.map((fault) => fault.split(":")[0])).toEqual(
    [2, 3, 6, 7, 8, 9, 10, 12, 13, 14].map((line) => `line ${line}`),
  );
  expect(faults.join("\n")).toMatch(/name p is that of the plugin in line 5/u);
});

const defaults = entryWith({ name: "p" });
const kinds = [inProcess("one", { p: { hooks: { a: () => ({}) } } }), inProcess("two", {})];

it("names the kinds that there are when one is unknown, beside all other faults of all entries", async () => {
  const config = await readPluginsConfig(
    `plugins:
  - { name: p, kind: one, hooks: [a, b] }
  - { name: q, kind: external, hooks: [a] }
  - { name: r, kind: two, hooks: [a] }
  - { name: s, kind: elsewhere, hooks: [a], mode: disabled }
`,
    { file: "plugins.yaml" },
  );
  expect(() => createPluginHost({ config, kinds })).toThrowError(
    expect.objectContaining({
      code: "KIND_UNKNOWN",
      faults: [
        "line 2: plugin p: hooks: it has no hook b",
        "line 3: plugin q: there is no kind external; this host has one, two",
        "line 4: plugin r: kind two has no plugin r",
      ],
    }),
  );
  const bad = await readPluginsConfig("plugins: [{ name: r, kind: two, hooks: [a] }]", { file: "plugins.yaml" });
  expect(() => createPluginHost({ config: bad, kinds })).toThrowError(
    expect.objectContaining({
      code: "CONFIG_INVALID",
      message: "plugins.yaml: line 1: plugin r: kind two has no plugin r",
    }),
  );
});

it("refuses two plugins of one name, also without a file", () => {
  const entry = { ...defaults, name: "p", kind: "one", hooks: ["a"] };
  const config = { plugins: [entry, entry], settings, warnings: [] };
  expect(() => createPluginHost({ config, kinds })).toThrowError(
    expect.objectContaining({ code: "CONFIG_INVALID", faults: ["plugin p: its name is another plugin's too"] }),
  );
});

it.each([{ names: ["one", "one"] }, { names: ["pkg.Class"] }, { names: [""] }])(
  "refuses kinds named $names",
  async ({ names }) => {
    const config = await readPluginsConfig("");
    expect(() => createPluginHost({ config, kinds: names.map((name) => inProcess(name, {})) })).toThrowError(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
  },
);

it("warns of templates, which stay as they are written", async () => {
  const config = await readPluginsConfig(
    'plugins:\n  - { name: p, kind: k, hooks: [a], config: { key: "{{ env.KEY }}" } }\n',
  );
  expect(config.warnings).toEqual(["line 1: {{ … }} is not filled in here: it stays as it is written"]);
});
