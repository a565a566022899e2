import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import * as entry from "../../src/executor.js";

const folder = fileURLToPath(new URL("../../src/executor/", import.meta.url));
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ name, text: readFileSync(`${folder}${name}`, "utf8") }));

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

it.each(sources)("$name imports nothing beside the executor, and no parser before it is needed", ({ name, text }) => {
  const imports = [...text.matchAll(/^(?:import|export) (type )?[^;]*?from "(?<from>[^"]+)"/gmu)];
  for (const [, type, from = ""] of imports) {
    if (from.startsWith(".")) expect(join("/executor", name, "..", from)).toMatch(/^\/executor\//u);
    else expect(from).toMatch(/^(node:|zod$|yaml$|@berth\/jsonrpc-framing$)/u);
    if (type === undefined) expect(from).not.toMatch(/^(zod|yaml)$/u);
  }
});

it("recognises its errors from any copy of the package", () => {
  const foreign = Object.assign(new Error("x"), { name: "PluginHostError", code: "HOST_CLOSED" });
  expect([entry.isPluginHostError(foreign), entry.isPluginHostError(new Error("x"))]).toEqual([true, false]);
});
