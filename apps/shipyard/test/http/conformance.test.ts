import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { listen } from "@berth/command-line/http";
import { expect, it } from "vitest";
import { z } from "zod";
import { serve } from "./support/served.js";

const bundle = fileURLToPath(
  new URL("../../../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const checks = z.array(z.object({ id: z.string(), status: z.string() }));

/** All scenarios of the official suite that need no tool, prompt or resource of its own fixture. */
const scenarios = [
  { revision: "2025-03-26", args: ["--suite", "all", "--spec-version"], names: ["server-session-lifecycle"] },
  {
    revision: "2025-06-18",
    args: ["--suite", "all", "--spec-version"],
    names: [
      "logging-set-level",
      "ping",
      "resources-list",
      "server-initialize",
      "server-session-lifecycle",
      "tools-list",
    ],
  },
  {
    revision: "2025-11-25",
    args: ["--requirements"],
    names: [
      "dns-rebinding-protection",
      "logging-set-level",
      "ping",
      "resources-list",
      "server-initialize",
      "server-session-lifecycle",
      "server-sse-multiple-streams",
      "tools-list",
    ],
  },
  {
    revision: "2026-07-28",
    args: ["--requirements"],
    names: [
      "dns-rebinding-protection",
      "http-header-validation",
      "resources-list",
      "sep-2164-resource-not-found",
      "server-sse-multiple-streams",
      "tools-list",
    ],
  },
];

it.each(scenarios)(
  "every scenario of $revision that needs no fixture passes without a warning",
  async ({ revision, args, names }) => {
    await using served = await serve({ sessions: { limits: { warmWorkers: 0 } } });
    const { handle } = served.doors;
    const address = { host: "127.0.0.1", port: 0 };
    const listening = await listen({ address, handle, maxConnections: 256, authenticated: false });
    const folder = await mkdtemp(join(tmpdir(), "berth-conformance-"));
    try {
      const all = [bundle, "server", "--url", `${listening.url}/mcp`, ...args, revision, "--output-dir", folder];
      // It fails by the scenarios that do need the fixture.
      await new Promise<void>((resolve) => {
        execFile(process.execPath, all, { timeout: 110_000, cwd: folder }, () => resolve());
      });
      const passed = await passedIn(folder);
      expect(names.filter((name) => !passed.has(name))).toEqual([]);
    } finally {
      await listening.close(1_000);
      await rm(folder, { recursive: true });
    }
  },
  120_000,
);

/** A folder a scenario, named `server-`, the scenario, and the time. */
async function passedIn(folder: string): Promise<ReadonlySet<string>> {
  const passed = new Set<string>();
  for (const entry of await readdir(folder)) {
    const name = /^server-(.+)-\d{4}-\d{2}-\d{2}T/.exec(entry)?.[1];
    if (name === undefined) continue;
    const found = checks.parse(JSON.parse(await readFile(join(folder, entry, "checks.json"), "utf8")));
    if (found.every(({ status }) => status !== "FAILURE" && status !== "WARNING")) passed.add(name);
  }
  return passed;
}
