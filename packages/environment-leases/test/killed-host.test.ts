import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type EnforcementReport, probe } from "@berth/process-confinement";
import { describe, expect } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { partTest } from "../../../fixtures/parts.js";
// An inner file, so that the machine is probed once and not in each run.
import { manageSandboxes } from "../src/bubblewrap/manage-sandboxes.js";
import { createLeases } from "../src/index.js";
import { openSqliteLeaseStore } from "../src/sqlite.js";

const program = fileURLToPath(new URL("./programs/leasing-host.mjs", import.meta.url));

/** The host's exit and what it said. */
async function runHost(
  options: object,
): Promise<{ readonly signal: unknown; readonly code: unknown; readonly out: string }> {
  const host = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  for (const stream of [host.stdout, host.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
  }
  const [code, signal] = await once(host, "close", { signal: AbortSignal.timeout(60_000) });
  return { code, signal, out };
}

/** Command lines of this machine's processes that name the folder. */
async function processesOf(folder: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => "")));
  return lines.filter((line) => line.includes(folder));
}

/** One later host: recovers, and looks for what is left. Without a report it only ends, whatever its machine holds by now. */
async function recoverIn(folder: string, report: EnforcementReport | undefined): Promise<void> {
  const store = await openSqliteLeaseStore({ path: join(folder, "leases.db") });
  const provider = await manageSandboxes({ folder: join(folder, "w") }, report);
  const profiles = { python: { provider: provider.name, template: "/usr/bin/python3" } };
  const leases = createLeases({ store, providers: [provider], profiles });
  try {
    const living = new Set(await provider.listWorkers());
    const terminal = (await store.list({ states: ["released", "lost"] })).filter(({ worker }) => living.has(worker));
    expect(terminal, "no lease was released whose sandbox lives").toEqual([]);
    expect((await leases.recover()).unconfirmed).toBe(0);
    expect(await provider.listWorkers()).toEqual([]);
    const rows = await store.list();
    for (const row of rows) expect(row.state).toMatch(/^(released|lost)$/);
    for (const { worker } of rows) expect(await provider.exists(worker)).toBe("no");
    expect(await processesOf(folder)).toEqual([]);
  } finally {
    await leases.close();
    await provider.close();
    await store.close();
  }
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp("/tmp/berth-killed-");
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe("a host of real sandboxes that is killed at any call of its store or provider", () => {
  partTest("bubblewrap", "python3")(
    "leaves nothing that the next host does not end",
    async () => {
      const report = await probe({});
      let calls = 0;
      await inFolder(async (folder) => {
        const { code, out } = await runHost({ folder, point: 0 });
        expect([code, out]).toEqual([0, expect.stringMatching(/^calls: \d+\n$/)]);
        calls = Number(out.slice("calls: ".length));
        await recoverIn(folder, report);
      });
      const runs = scaledCount("hosts of real sandboxes killed at a call", 240);
      for (let run = 0; run < runs; run += 1) {
        // Both sides of every call in turn; a stride without common factor spreads a small number of runs over all.
        const side = (run * 61) % (2 * calls);
        const point = 1 + Math.floor(side / 2);
        const when = side % 2 === 0 ? "before" : "after";
        await inFolder(async (folder) => {
          const { signal, out } = await runHost({ folder, point, when });
          expect([signal, out], `killed ${when} call ${point}`).toEqual(["SIGKILL", ""]);
          if (run % 4 === 0)
            await runHost({ folder, point: 1 + (Math.floor(run / 4) % 6), when, onRecovery: "destroy" });
          await recoverIn(folder, Math.floor(run / 3) % 2 === 0 ? report : undefined);
        });
      }
    },
    3_600_000,
  );
});
