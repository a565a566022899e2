import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { StreamableHTTPClientTransport as Http2, Client as Sdk2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Sdk1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, describe, expect } from "vitest";
import { partTest, pythonOf } from "../../../fixtures/parts.js";
import { addresses, expectedShelf, lookAtShelf, type SeenShelf } from "./look-at-shelf.js";
import { bin, run, serve } from "./plugin-host.js";
import { makeProcessWorld } from "./process-world.js";

const world = makeProcessWorld();
const { options } = world.state("state");
let config = "";
let folder = "";
let launch: { readonly command: string; readonly args: string[] };

beforeAll(() => {
  folder = world.fixture("shelf-python");
  config = world.config("plugins.yaml", { shelf: "dir: shelf-python" });
  const args = [bin, "serve", "--stdio", "--config", config, "--log", "silent", ...options];
  launch = { command: process.execPath, args };
});

const clientInfo = { name: "test", version: "1" };
const modes = [
  { mode: "legacy", versionNegotiation: { mode: "legacy" } },
  { mode: "auto", versionNegotiation: { mode: "auto" } },
  { mode: "2026-07-28", versionNegotiation: { mode: { pin: "2026-07-28" } } },
] as const;
// "auto" waits for so long only, and takes the older era while plugins are still being started.
const pinned = modes.filter(({ mode }) => mode !== "auto");

async function with2(transport: Stdio2 | Http2, { versionNegotiation }: (typeof modes)[number]): Promise<SeenShelf> {
  const client = new Sdk2(clientInfo, { versionNegotiation });
  await client.connect(transport);
  try {
    return await lookAtShelf(client);
  } finally {
    await client.close();
  }
}

async function with1(transport: Stdio1 | Http1): Promise<SeenShelf> {
  const client = new Sdk1(clientInfo);
  await client.connect(transport);
  try {
    return await lookAtShelf(client);
  } finally {
    await client.close();
  }
}

/** As JSON text: in it a number has its digits still. */
async function withPython(mode: string, ...where: readonly string[]): Promise<string> {
  const program = fileURLToPath(new URL("./programs/look_at_shelf.py", import.meta.url));
  const args = [program, mode, JSON.stringify(addresses), ...where];
  const { stdout } = await promisify(execFile)(pythonOf("mcp"), args, { timeout: 110_000 });
  return stdout;
}

/** By which clients are told that a resource is not there; those of SDK 2.x tell the newer number in each era. */
const none = { modern: -32602, legacy: -32002 };

function expectFromPython(told: string, mode: string): void {
  expect(told).toContain("9007199254740993");
  // A client that pins its revision asks for no capabilities.
  const asked = mode === "2026-07-28" ? { capabilities: [null, null, null] } : {};
  expect(JSON.parse(told)).toEqual({ ...expectedShelf(mode === "legacy" ? none.legacy : none.modern), ...asked });
}

describe("the prompts and resources of a plugin, over stdio", () => {
  for (const mode of pinned) {
    partTest("bubblewrap", "python3")(
      `are the same for a client of SDK 2.x, ${mode.mode}`,
      async () => expect(await with2(new Stdio2(launch), mode)).toEqual(expectedShelf(none.modern)),
      120_000,
    );
  }
  partTest("bubblewrap", "python3")(
    "are the same for a client of SDK 1.x",
    async () => expect(await with1(new Stdio1(launch))).toEqual(expectedShelf(none.legacy)),
    120_000,
  );
  for (const { mode } of pinned) {
    partTest("bubblewrap", "python3", "python-mcp")(
      `are the same for Python's client, ${mode}, which is given each digit of a number`,
      async () => expectFromPython(await withPython(mode, "stdio", launch.command, ...launch.args), mode),
      120_000,
    );
  }
});

partTest("bubblewrap", "python3", "python-mcp")(
  "over HTTP they are the same for each of these clients",
  async () => {
    const { url } = await serve({ options }, ["--config", config]);
    const address = new URL(`${url}/mcp`);
    for (const mode of modes) {
      expect(await with2(new Http2(address), mode), mode.mode).toEqual(expectedShelf(none.modern));
      expectFromPython(await withPython(mode.mode, "http", address.href), mode.mode);
    }
    expect(await with1(new Http1(address))).toEqual(expectedShelf(none.legacy));
  },
  240_000,
);

partTest("bubblewrap", "python3")(
  "the plugin passes check, with its transcript",
  async () => {
    const { code, stdout } = await run(["check", folder]);
    expect(`${code} ${stdout}`).toMatch(/^0 [\s\S]*transcript: all 62 lines/u);
  },
  120_000,
);
