import { expect, it } from "vitest";
import { readPluginsConfig } from "../../src/executor.js";
import { faultsOf } from "./faults.js";

it.each([
  { name: "no YAML", text: "plugins: [\n", fault: /^line \d+: / },
  { name: "a key twice", text: "plugins: []\nplugins: []\n", fault: /^line 2: key plugins is there twice/ },
  {
    name: "an inner key twice",
    text: "plugins:\n  - name: a\n    kind: k\n    kind: l\n",
    fault: /^line 4: key kind is/,
  },
  { name: "a list", text: "- a\n", fault: /^line 1: the document/ },
  { name: "a text", text: "hello", fault: /^line 1: / },
  { name: "an unknown tag that is code", text: "plugins: !!python/object/apply:os.system [ls]\n", fault: /^line 1: / },
  { name: "more than a quarter of a mebibyte", text: `# ${"x".repeat(262_144)}`, fault: /longer than 262144/ },
  { name: "a hundred thousand open brackets", text: "[".repeat(100_000), fault: /nested deeper than 256/ },
  { name: "a hundred thousand nested items", text: `${"- ".repeat(100_000)}x`, fault: /nested deeper than 256/ },
  { name: "a hundred thousand nested keys", text: "? ".repeat(100_000), fault: /nested deeper than 256/ },
  {
    name: "blocks that each stand further in",
    text: Array.from({ length: 300 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"),
    fault: /nested deeper than 256/,
  },
  {
    name: "2,000 plugins",
    text: `plugins:\n${Array.from({ length: 2_000 }, (_, at) => `  - { name: p${at}, kind: k }\n`).join("")}`,
    fault: /line 1: plugins/,
  },
  {
    name: "a config that is nested too deeply",
    text: `plugins:\n  - name: p\n    kind: test\n    config: ${"{ a: ".repeat(80)}1${" }".repeat(80)}\n`,
    fault: /line 4: it is nested deeper/,
  },
  {
    name: "a number that JSON cannot say",
    text: "plugins: [{ name: p, kind: k, config: { a: .inf } }]\n",
    fault: /JSON cannot say/,
  },
])("refuses $name", async ({ text, fault }) => {
  const faults = await faultsOf(text);
  expect(faults.length).toBeGreaterThan(0);
  expect(faults[0]).toMatch(fault);
});

it("reads many short keys in little time", async () => {
  const keys = Array.from({ length: 25_000 }, (_, at) => `k${at}: 1`).join("\n");
  expect((await readPluginsConfig(keys)).warnings).toHaveLength(100);
});

it("refuses aliases that grow without end, and takes a few that are used with sense", async () => {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
  const bomb = names.map((name, at) => {
    const item = at === 0 ? "x" : `*${names[at - 1]}`;
    return `${name}: &${name} [${Array.from({ length: 9 }, () => item).join(", ")}]`;
  });
  expect(await faultsOf(`${bomb.join("\n")}\nplugins: []\n`)).toEqual(["line 1: its aliases repeat too much"]);
  const config = await readPluginsConfig(`
base: &base { kind: test, hooks: [tool_pre_invoke], priority: 7 }
plugins:
  - { <<: *base, name: a }
  - { <<: *base, name: b, priority: 8 }
`);
  expect(config.plugins.map(({ name, kind, priority }) => [name, kind, priority])).toEqual([
    ["a", "test", 7],
    ["b", "test", 8],
  ]);
});

it("takes __proto__ as a key like any other, and changes no prototype", async () => {
  const config = await readPluginsConfig(`
__proto__: { polluted: 1 }
plugins:
  - name: __proto__
    kind: test
    hooks: [__proto__]
    __proto__: { mode: audit }
    config: { __proto__: { polluted: 1 }, constructor: { prototype: { polluted: 1 } } }
`);
  const [entry] = config.plugins;
  expect([entry?.name, entry?.mode]).toEqual(["__proto__", "sequential"]);
  expect(Object.keys(entry?.config ?? {})).toEqual(["__proto__", "constructor"]);
  expect(Object("x").polluted).toBeUndefined();
  expect(Object.getPrototypeOf(entry?.config)).toBe(Object.prototype);
});
