import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect } from "vitest";
import { partTest, pythonOf } from "../../../../../fixtures/parts.js";
import { serveSample } from "./served.js";

async function seenBy(environment: "mcp" | "fastmcp", client: string, ...more: string[]): Promise<unknown> {
  await using sample = await serveSample();
  const program = fileURLToPath(new URL(`../../programs/${client}`, import.meta.url));
  const { stdout } = await promisify(execFile)(pythonOf(environment), [program, sample.http.url, ...more], {
    timeout: 25_000,
  });
  const opened = sample.requests.get("initialize");
  return { ...JSON.parse(stdout), opened, left: sample.http.sessionCount, errors: sample.errors };
}
const seen = {
  tools: 11,
  echo: "grüße",
  polled: "polled",
  steps: [1, 2],
  asked: '[{"name":"Ada"},{"place":"Turin"}]',
  resource: "first",
  secret: "Unknown tool: secret",
  opened: 1,
  left: 0,
  errors: [],
};

describe("Python's clients over HTTP", () => {
  partTest("python-mcp")("mcp uses what only sessions have, and ends its own", async () => {
    expect(await seenBy("mcp", "mcp_http_client.py")).toEqual({ ...seen, revision: "2025-11-25" });
  });

  partTest("fastmcp")("fastmcp uses what the server offers, and ends its session", async () => {
    expect(await seenBy("fastmcp", "fastmcp_http_client.py", "legacy")).toEqual(seen);
  });

  partTest("fastmcp")("fastmcp, left to itself, finds out that there is more than sessions", async () => {
    expect(await seenBy("fastmcp", "fastmcp_http_client.py", "auto")).toEqual({ ...seen, opened: undefined });
  });
});
