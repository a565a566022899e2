import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { callOf, entryOf, openPlugin } from "../isolated-venv/plugins.js";
import { hookTask, openStub } from "./workers.js";

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "berth-core-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The limits of a process, soft and hard. */
function coreLimits(pid: number | undefined): readonly string[] {
  const line = /^Max core file size +(\S+) +(\S+)/mu.exec(readFileSync(`/proc/${pid}/limits`, "utf8"));
  return line?.slice(1) ?? [];
}

/** Lets this process, and what it starts, write core files until the test has finished. */
function allowCores(): void {
  const own = coreLimits(process.pid).join(":");
  const set = (limits: string): void =>
    void execFileSync("prlimit", ["--pid", String(process.pid), `--core=${limits}`]);
  onTestFinished(() => set(own));
  set(`${coreLimits(process.pid)[1]}:`);
}

async function crashIn(cwd: string, holdsSecrets: boolean): Promise<readonly string[]> {
  const worker = openStub({ cwd, holdsSecrets });
  await expect(worker.call(hookTask("Segfault"))).rejects.toMatchObject({ code: "WORKER_DIED" });
  await worker.close();
  return readdirSync(cwd).filter((name) => name.startsWith("core"));
}

describe("a worker that holds tokens", () => {
  partTest("util-linux")("leaves no core file when it crashes, where others leave one", async (context) => {
    const pattern = readFileSync("/proc/sys/kernel/core_pattern", "utf8").trim();
    allowCores();
    if (!pattern.startsWith("core") || coreLimits(process.pid)[0] === "0") {
      context.skip(`this machine keeps core files elsewhere, or none: ${pattern}`);
    }
    expect(await crashIn(folder(), false), "the control").toHaveLength(1);
    expect(await crashIn(folder(), true)).toEqual([]);
  });

  partTest("util-linux")("is given to no program that collects core files either", async () => {
    allowCores();
    const worker = openStub({ holdsSecrets: true });
    await worker.call(hookTask("Echo"));
    expect(await worker.call(hookTask("Limits"))).toMatchObject({ metadata: { core: [1, 1] } });
    expect(coreLimits(worker.pid)).toEqual(["1", "1"]);
  });

  it("runs its script as Python would, whatever lies in its working folder", async () => {
    const cwd = folder();
    for (const name of ["resource", "runpy", "json"]) writeFileSync(join(cwd, `${name}.py`), "raise SystemExit(9)\n");
    const [plain, guarded] = [openStub({ cwd }), openStub({ cwd, holdsSecrets: true })];
    const seen = await Promise.all([plain, guarded].map((worker) => worker.call(hookTask("Started"))));
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[0]).toMatchObject({ metadata: { name: "__main__" } });
  });

  it.each(["read_inbound_credentials", "read_delegated_tokens"])("is that of each plugin that %s", async (name) => {
    const plugin = await openPlugin(entryOf("Limits", { capabilities: [name] }));
    expect(await plugin.call(callOf({}), {})).toMatchObject({ metadata: { core: [1, 1] } });
  });

  it("is not that of a plugin that may not", async () => {
    const plugin = await openPlugin(entryOf("Limits", { capabilities: ["read_labels"] }));
    const { metadata } = await plugin.call(callOf({}), {});
    expect(metadata?.["core"]).not.toEqual([1, 1]);
  });
});
