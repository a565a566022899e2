import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { partTest } from "../../../fixtures/parts.js";
import { bin, plainEnvironment, scratchFolder, shipyard, writeConfig } from "./shipyard.js";

/** Processes with a mark that only our sandboxes have in their environment. */
function marked(mark: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark);
    } catch {
      return false; // gone meanwhile, or not ours to see
    }
  });
}

/** Control groups that are named after one of these workers, wherever they are. */
function groupsOf(workers: readonly string[]): readonly string[] {
  const below = (folder: string, depth: number): readonly string[] => {
    const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return names.flatMap(({ name }) => [name, ...(depth > 0 ? below(join(folder, name), depth - 1) : [])]);
  };
  const names = new Set(below("/sys/fs/cgroup", 3));
  return workers.filter((worker) => [...names].some((name) => name.includes(worker)));
}

/** Keeps a server busy with everything that writes leases, until it is gone. */
async function keepBusy(url: string): Promise<void> {
  const post = (path: string, body: object): Promise<unknown> =>
    fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    });
  const live = async (id: string): Promise<void> => {
    for (;;) {
      await post("/v1/sessions/session", { session_id: id });
      // The sleep waits for nothing: code runs for a while, so that a random moment may lie in it.
      await post("/execute", { code: "import time; time.sleep(0.05)", session_id: id });
      await post("/execute", { code: "1 + 1" });
      await fetch(`${url}/v1/sessions/session?session_id=${id}`, { method: "DELETE" });
    }
  };
  await Promise.allSettled(["a", "b", "c"].map(live)); // ends by the server's end
}

interface Round {
  readonly args: readonly string[];
  /** Counted from the start of the process, or from when it listens. */
  readonly from: "start" | "listening";
  readonly killAfterMs: number;
  readonly onKill: () => void;
}

/** Starts a server and kills it, whatever it is doing then. */
async function startAndKill({ args, from, killAfterMs, onKill }: Round): Promise<void> {
  const child = spawn(process.execPath, [bin, "serve", "--http", "127.0.0.1:0", ...args], {
    env: plainEnvironment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const closed = once(child, "close");
  let said = "";
  let busy: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  // A random moment is what is asked for, and no event tells of one.
  const killLater = (): void => {
    timer ??= setTimeout(() => {
      onKill();
      child.kill("SIGKILL");
    }, killAfterMs);
  };
  if (from === "start") killLater();
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    const url = /"event":"listening","url":"(.*)\/mcp"/.exec(said)?.[1];
    if (url === undefined) return;
    busy ??= keepBusy(url);
    killLater();
  });
  await closed;
  clearTimeout(timer);
  await busy;
}

describe("a server that is killed at a random moment", () => {
  partTest("bubblewrap", "python3")(
    "leaves no sandbox, no lease and no file, once the next process has looked",
    async () => {
      const folder = scratchFolder();
      const state = join(folder, "s");
      const mark = `berth-mark-${process.pid}-${Date.now()}`;
      const config = writeConfig(folder, [
        "profiles:",
        "  python:",
        "    template: /usr/bin/python3",
        `    env: { BERTH_MARK: ${mark} }`,
        "    policy: { limits: { openFiles: 256 } }",
        "sessions: { warmWorkers: 2 }",
      ]);
      const args = ["--config", config, "--state", state];
      let seen = 0;
      const onKill = (): void => {
        seen = Math.max(seen, marked(mark).length);
      };
      for (let round = scaledCount("servers killed at random moments", 100); round > 0; round -= 1) {
        const from = round % 3 === 0 ? "start" : "listening";
        await startAndKill({ args, from, killAfterMs: Math.random() * (from === "start" ? 5_000 : 2_000), onKill });
        const swept = await shipyard(["leases", "sweep", "--state", state, "--json"]);
        if (swept.code === 2) continue; // killed before there was a state folder
        expect(swept, swept.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('"unconfirmed": 0') });
        expect(marked(mark)).toEqual([]);
        const listed = await shipyard(["leases", "list", "--all", "--state", state, "--json"]);
        const leases: readonly { state: string; worker: string }[] = JSON.parse(listed.stdout).leases;
        expect(leases.filter((lease) => !["released", "lost"].includes(lease.state))).toEqual([]);
        expect(groupsOf(leases.map(({ worker }) => worker))).toEqual([]);
        expect(readdirSync(join(state, "w", "b")).filter((name) => name.startsWith("mcp-"))).toEqual([]);
        expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(state);
      }
      expect(seen).toBeGreaterThan(0); // the control: what lived could be seen
    },
    3_600_000,
  );
});
