import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { compile, type Setup } from "./support/compile.js";
import { codeBlocks } from "./support/readme.js";

/** Each value of each option; with BERTH_SOAK=1 each pair of them. */
const setups: readonly Setup[] = [
  { resolution: "nodenext", exactOptionalPropertyTypes: true },
  { resolution: "bundler", exactOptionalPropertyTypes: false },
  { resolution: "nodenext", exactOptionalPropertyTypes: false },
  { resolution: "bundler", exactOptionalPropertyTypes: true },
];
const tried = setups.slice(0, process.env["BERTH_SOAK"] === "1" ? setups.length : 2);
const read = (name: string): string => readFileSync(fileURLToPath(new URL(name, import.meta.url)), "utf8");
const handlers = read("programs/typed-handlers.ts").replace("../../src/index.js", "@berth/mcp-server");
const entries = ["", "/stdio", "/http", "/protocol", "/tasks", "/auth", "/contracts", "/opentelemetry", "/json-schema"];
const imports = entries.map((entry, index) => `export * as e${index} from "@berth/mcp-server${entry}";`).join("\n");

/** What the README's fragments speak of without saying it. */
const ambient = `
import type { McpServer } from "@berth/mcp-server";
declare global {
  const server: McpServer<string>;
  const askIfSure: { readonly message: string; readonly requestedSchema: { readonly type: "object"; readonly properties: {} } };
  function collect(options: { readonly signal: AbortSignal }): Promise<readonly number[]>;
  function write(figures: readonly number[], options: { readonly signal: AbortSignal }): Promise<string>;
}`;

describe("TypeScript in strict mode, with every declaration checked", () => {
  it.each(tried)(
    "knows what handlers get and return: $resolution, exact: $exactOptionalPropertyTypes",
    (setup) => {
      const texts = new Map([
        ["handlers.ts", handlers],
        ["entries.ts", imports],
        ["quickstart.ts", read("../examples/quickstart.js")],
      ]);
      expect(compile(texts, setup)).toEqual([]);
    },
    120_000,
  );

  it("compiles each block of code in the README", () => {
    const blocks = codeBlocks("js", "ts");
    expect(blocks.length).toBeGreaterThan(4);
    const texts = new Map(blocks.map(({ line, text }) => [`readme-line-${line}.ts`, text]));
    expect(compile(texts, { resolution: "nodenext", exactOptionalPropertyTypes: true }, ambient)).toEqual([]);
  }, 120_000);
});
