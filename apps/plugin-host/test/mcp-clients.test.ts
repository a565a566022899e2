import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { StreamableHTTPClientTransport as Http2, Client as Sdk2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Sdk1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, describe, expect, it } from "vitest";
import { hasPart, partTest, pythonOf } from "../../../fixtures/parts.js";
import { type Aims, expectedOf, lookWith, type Seen } from "./look-at-plugins.js";
import { bin, serve } from "./plugin-host.js";
import { fixturesFolder, makeProcessWorld } from "./process-world.js";

const world = makeProcessWorld();
const runs = (file: string, ...args: readonly string[]): boolean => spawnSync(file, args).status === 0;
/** The one plugin in five languages, what each needs, and what of the machine it has to be shown. */
const fixtures = [
  {
    entry: "p-mcp",
    fixture: "smoke-mcp",
    needs: "a Python in AVE_SMOKE_PYTHON, or uv",
    isThere: () => runs(process.execPath, join(fixturesFolder, "prepare-python.mjs"), "--find"),
  },
  { entry: "p-python", fixture: "smoke-python", needs: "python3", isThere: () => hasPart("python3") },
  { entry: "p-typescript", fixture: "smoke-typescript", needs: "nothing", isThere: () => true },
  {
    entry: "p-c",
    fixture: "smoke-c",
    needs: "cc: apt-get install gcc libc6-dev",
    isThere: () => runs("cc", "--version"),
  },
  { entry: "p-shell", fixture: "smoke-shell", needs: "nothing", isThere: () => true },
];
const there = fixtures.filter(({ isThere }) => isThere());
const { options, path: state } = world.state("state");
const listener = createServer((socket) => socket.destroy());
let arrivals = 0;
let aims: Aims;
let config = "";
let launch: { readonly command: string; readonly args: string[] };

beforeAll(async () => {
  const entries = there.map(({ entry, fixture }) => {
    const shown = world.interpreters(world.fixture(fixture));
    return [entry, `dir: ${fixture}${shown.length === 0 ? "" : `, interpreters: ${JSON.stringify(shown)}`}`] as const;
  });
  config = world.config("plugins.yaml", Object.fromEntries(entries));
  const secretsDir = join(world.folder, "secrets");
  const otherDataDir = join(state, "plugins", "another");
  for (const folder of [secretsDir, otherDataDir]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, "secret"), "not for plugins");
  }
  for (const folder of [state, join(state, "plugins")]) spawnSync("chmod", ["700", folder]);
  listener.on("connection", () => {
    arrivals += 1;
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const address = listener.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const plugins = there.map(({ entry }) => entry);
  aims = { plugins, secrets: { secretsDir, otherDataDir }, network: { host: "127.0.0.1", port } };
  launch = {
    command: process.execPath,
    args: [bin, "serve", "--stdio", "--config", config, "--log", "silent", ...options],
  };
  return () => void listener.close();
}, 300_000);

describe("the plugin in five languages", () => {
  for (const { entry, needs, isThere } of fixtures) {
    it(`is served as ${entry}`, (context) => {
      if (isThere()) return;
      if (process.env["BERTH_REQUIRE"] === "all") throw new Error(`${entry} needs ${needs}`);
      context.skip(`${entry} needs ${needs}`);
    });
  }
});

const clientInfo = { name: "test", version: "1" };
const modes = [
  { mode: "legacy", modern: false, versionNegotiation: { mode: "legacy" } },
  { mode: "auto", modern: true, versionNegotiation: { mode: "auto" } },
  { mode: "2026-07-28", modern: true, versionNegotiation: { mode: { pin: "2026-07-28" } } },
] as const;

async function with2(transport: Stdio2 | Http2, { modern, versionNegotiation }: (typeof modes)[number]): Promise<Seen> {
  const client = new Sdk2(clientInfo, { versionNegotiation });
  await client.connect(transport);
  try {
    expect(client.getProtocolEra()).toBe(modern ? "modern" : "legacy");
    return await lookWith(client, modern, aims);
  } finally {
    await client.close();
  }
}

async function with1(transport: Stdio1 | Http1): Promise<Seen> {
  const client = new Sdk1(clientInfo);
  await client.connect(transport);
  try {
    return await lookWith(client, false, aims);
  } finally {
    await client.close();
  }
}

async function withPython(mode: string, ...where: readonly string[]): Promise<Seen> {
  const program = fileURLToPath(new URL("./programs/look.py", import.meta.url));
  const args = [program, mode, JSON.stringify(aims), ...where];
  const { stdout } = await promisify(execFile)(pythonOf("mcp"), args, { timeout: 110_000 });
  return JSON.parse(stdout);
}

// "auto" waits for so long only, and takes the older era while plugins are still being started.
const pinned = modes.filter(({ mode }) => mode !== "auto");

describe("over stdio", () => {
  for (const mode of pinned) {
    partTest("bubblewrap")(
      `a client of SDK 2.x, ${mode.mode}, uses the tools of all`,
      async () => expect(await with2(new Stdio2(launch), mode)).toEqual(expectedOf(mode.modern, aims)),
      120_000,
    );
  }
  partTest("bubblewrap")(
    "a client of SDK 1.x uses the tools of all",
    async () => expect(await with1(new Stdio1(launch))).toEqual(expectedOf(false, aims)),
    120_000,
  );
  for (const { mode, modern } of pinned) {
    partTest("bubblewrap", "python-mcp")(
      `Python's client, ${mode}, uses the tools of all`,
      async () => {
        const seen = await withPython(mode, "stdio", launch.command, ...launch.args);
        expect(seen).toEqual(expectedOf(modern, aims));
      },
      120_000,
    );
  }
});

describe("over HTTP", () => {
  partTest("bubblewrap", "python-mcp")(
    "each of these clients does so, and nothing of a plugin arrived at the host's listener",
    async () => {
      const { url } = await serve({ options }, ["--config", config]);
      const address = new URL(`${url}/mcp`);
      for (const mode of modes) {
        expect(await with2(new Http2(address), mode), mode.mode).toEqual(expectedOf(mode.modern, aims));
        expect(await withPython(mode.mode, "http", address.href), mode.mode).toEqual(expectedOf(mode.modern, aims));
      }
      expect(await with1(new Http1(address))).toEqual(expectedOf(false, aims));
      expect(arrivals).toBe(0);
    },
    240_000,
  );
});
