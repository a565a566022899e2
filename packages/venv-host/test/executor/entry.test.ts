import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import * as entry from "../../src/executor.js";

const root = new URL("../../src/executor.ts", import.meta.url);

interface Source {
  /** Relative to src. */
  readonly name: string;
  /** Of other packages, each with whether only types are taken. */
  readonly packages: readonly { readonly from: string; readonly isType: boolean }[];
}

/** Every file that the entry reaches, types included. */
function reached(): readonly Source[] {
  const sources = new Map<string, Source>();
  const waiting = [root];
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    if (sources.has(url.href)) continue;
    const statements = /^(?:import|export) (type )?[^;]*?from "(?<from>[^"]+)"/gmu;
    const imports = [...readFileSync(url, "utf8").matchAll(statements)].map(([, type, from = ""]) => ({
      from,
      isType: type !== undefined,
    }));
    const name = url.href.slice(new URL(".", root).href.length);
    sources.set(url.href, { name, packages: imports.filter(({ from }) => !from.startsWith(".")) });
    for (const { from } of imports.filter((each) => each.from.startsWith("."))) {
      waiting.push(new URL(from.replace(/\.js$/u, ".ts"), url));
    }
  }
  return [...sources.values()];
}

it("gives out what it lists, and nothing else", () => {
  expect(Object.keys(entry).sort()).toEqual([
    "PluginHostError",
    "createPluginHost",
    "inProcess",
    "isPluginHostError",
    "pythonCapabilities",
    "readPluginReply",
    "readPluginsConfig",
    "writePluginCall",
  ]);
});

it.each(reached())(
  "reaches $name, which is nothing of environments or workers, and no parser before it is needed",
  (source) => {
    expect(source.name).toMatch(/^(executor\/.*|[\w-]+)\.ts$/u);
    for (const { from, isType } of source.packages) {
      expect(from).toMatch(/^(node:[\w/]+|zod|yaml|@berth\/jsonrpc-framing)$/u);
      if (!isType) expect(from).not.toMatch(/^(zod|yaml)$/u);
    }
  },
);

it("recognises its errors from any copy of the package", () => {
  const foreign = Object.assign(new Error("x"), { name: "PluginHostError", code: "HOST_CLOSED" });
  expect([entry.isPluginHostError(foreign), entry.isPluginHostError(new Error("x"))]).toEqual([true, false]);
});
