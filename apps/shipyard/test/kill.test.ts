import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { partTest } from "../../../fixtures/parts.js";
import { place } from "./places.js";
import { groupsOf, processesNaming } from "./remains.js";
import { launch, shipyard } from "./shipyard.js";

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
  const { child, listening, ended } = launch(args);
  let timer: NodeJS.Timeout | undefined;
  // A random moment is what is asked for, and no event tells of one.
  const killLater = (): void => {
    timer ??= setTimeout(() => {
      onKill();
      child.kill("SIGKILL");
    }, killAfterMs);
  };
  if (from === "start") killLater();
  const busy = listening.then(
    (url) => {
      killLater();
      return keepBusy(url);
    },
    () => undefined, // killed before
  );
  await Promise.all([ended, busy]);
  clearTimeout(timer);
}

describe("a server that is killed at a random moment", () => {
  partTest("bubblewrap", "python3")(
    "leaves no sandbox, no lease and no file, once the next process has looked",
    async () => {
      const mark = `berth-mark-${process.pid}-${Date.now()}`;
      const { args, state } = place([
        "profiles:",
        "  python:",
        "    template: /usr/bin/python3",
        `    env: { BERTH_MARK: ${mark} }`,
        "    policy: { limits: { openFiles: 256 } }",
        "sessions: { warmWorkers: 2 }",
      ]);
      let seen = 0;
      const onKill = (): void => {
        seen = Math.max(seen, processesNaming(mark).length);
      };
      for (let round = scaledCount("servers killed at random moments", 100); round > 0; round -= 1) {
        const from = round % 3 === 0 ? "start" : "listening";
        await startAndKill({ args, from, killAfterMs: Math.random() * (from === "start" ? 5_000 : 2_000), onKill });
        const swept = await shipyard(["leases", "sweep", "--state", state, "--json"]);
        if (swept.code === 2) continue; // killed before there was a state folder
        expect(swept, swept.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('"unconfirmed": 0') });
        expect(processesNaming(mark)).toEqual([]);
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
