import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect } from "vitest";
import { partTest, pythonOf } from "../../../../fixtures/parts.js";

const program = (name: string): string => fileURLToPath(new URL(`../programs/${name}`, import.meta.url));

async function seenBy(environment: "mcp" | "fastmcp", client: string): Promise<unknown> {
  const args = [program(client), process.execPath, program("sample-server.mjs")];
  const { stdout } = await promisify(execFile)(pythonOf(environment), args, { timeout: 25_000 });
  return JSON.parse(stdout);
}
const seen = { tools: 8, echo: "grüße", prompt: "Greet Ada", resource: "of ada", secret: "Unknown tool: secret" };

describe("Python's clients over stdio", () => {
  partTest("python-mcp")("mcp uses what the server offers", async () => {
    expect(await seenBy("mcp", "mcp_client.py")).toEqual({ ...seen, printed: "printed", steps: [1, 2] });
  });

  partTest("fastmcp")("fastmcp uses what the server offers", async () => {
    expect(await seenBy("fastmcp", "fastmcp_client.py")).toEqual(seen);
  });
});
