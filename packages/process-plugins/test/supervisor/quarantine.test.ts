import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Scheduler, systemScheduler } from "@berth/jsonrpc-framing";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import {
  createPluginSupervisor,
  type PluginEvent,
  type PluginStanding,
  type PluginSupervisor,
} from "../../src/index.js";
import { emptyFolder } from "../support/plugin-folder.js";
import { rejection } from "../support/rejection.js";
import { processesWith } from "../support/running-plugin.js";
import { type ShellPluginChanges, shellPlugin } from "../support/shell-plugin.js";

const open: PluginSupervisor[] = [];
afterEach(() => Promise.all(open.splice(0).map((supervisor) => supervisor.close())));

/** Its clock stands still until it is set; waits take their real time. */
function heldClock(): Scheduler & { nowMs: number } {
  const clock = { nowMs: 0, now: () => clock.nowMs, after: systemScheduler.after };
  return clock;
}

interface Watched {
  readonly supervisor: PluginSupervisor;
  readonly events: PluginEvent[];
  readonly clock: { nowMs: number };
  readonly folder: string;
  readonly dataFolder: string;
  readonly standing: () => PluginStanding | undefined;
  /** Asks for it and lets it crash. */
  readonly crash: (how?: string) => Promise<void>;
}

function watch(
  changes: ShellPluginChanges = {},
  limits: { maxCrashes?: number; crashWindowMs?: number } = {},
): Watched {
  const folder = shellPlugin("smoke", changes);
  const dataFolder = join(emptyFolder(), "data");
  const events: PluginEvent[] = [];
  const clock = heldClock();
  const supervisor = createPluginSupervisor({
    plugins: [{ name: "smoke", folder, dataFolder, allowUnconfined: true }],
    host: { name: "test", version: "1" },
    record: (event) => void events.push(event),
    scheduler: clock,
    ...limits,
  });
  open.push(supervisor);
  const crash = async (how = "crash"): Promise<void> => {
    const instance = await supervisor.instance("smoke");
    await instance.invokeHook({ hook_type: "tool_pre_invoke", payload: { do: how }, context: {} }).catch(() => {});
    await instance.ended;
  };
  return { supervisor, events, clock, folder, dataFolder, standing: () => supervisor.list()[0], crash };
}

const typesOf = (events: readonly PluginEvent[]): readonly string[] => events.map(({ type }) => type);

describe("a plugin that crashes", () => {
  it("is started anew by the next who asks, until it was once too often", async () => {
    const { supervisor, events, standing, crash, folder } = watch();
    await crash();
    await crash();
    expect(standing()).toMatchObject({
      state: "failed",
      crashes: 2,
      message: expect.stringContaining("ended with code 9"),
    });
    await crash("wrong");
    expect(standing()?.state).toBe("quarantined");
    expect(standing()).toMatchObject({ crashes: 3, instance: undefined });
    const error = await rejection(supervisor.instance("smoke"));
    expect(error).toMatchObject({
      code: "PLUGIN_QUARANTINED",
      plugin: "smoke",
      advice: expect.stringContaining("release"),
    });
    expect(events.at(-1)).toEqual({ type: "plugin.quarantined", plugin: "smoke", crashes: 3, withinMs: 60_000 });
    expect(processesWith(folder)).toBe(0);
  });

  it("is started again when it was released, and its crashes are forgotten", async () => {
    const { supervisor, events, standing, crash } = watch({}, { maxCrashes: 1 });
    await crash();
    expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_QUARANTINED");
    await supervisor.stop("smoke");
    expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_QUARANTINED");
    await supervisor.release("smoke");
    expect(events.at(-1)).toEqual({ type: "plugin.released", plugin: "smoke" });
    expect(standing()).toMatchObject({ state: "idle", crashes: 0, message: undefined });
    expect((await supervisor.instance("smoke")).state).toBe("running");
  });

  it("once in a while is never quarantined", async () => {
    const { clock, standing, crash } = watch({}, { maxCrashes: 2, crashWindowMs: 1_000 });
    for (let round = 0; round < 4; round += 1) {
      await crash();
      expect(standing()).toMatchObject({ state: "failed", crashes: 1 });
      clock.nowMs += 1_000;
      expect(standing()).toMatchObject({ crashes: 0 });
    }
    await crash();
    await crash();
    expect(standing()?.state).toBe("quarantined");
    clock.nowMs += 1_000_000;
    expect(standing()).toMatchObject({ state: "quarantined", crashes: 0 });
  });

  it("before it is started counts too", async () => {
    const { supervisor, events, standing } = watch({ onCreate: "exit 3" }, { maxCrashes: 2 });
    for (const crashes of [1, 2]) {
      expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_NOT_STARTED");
      expect(standing()).toMatchObject({ crashes, message: expect.stringContaining("ended with code 3") });
    }
    expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_QUARANTINED");
    expect(typesOf(events).filter((type) => type === "plugin.quarantined")).toHaveLength(1);
  });

  it("is not released when that cannot be recorded", async () => {
    const folder = shellPlugin();
    const seen: PluginEvent[] = [];
    const supervisor = createPluginSupervisor({
      plugins: [{ name: "smoke", folder, dataFolder: join(emptyFolder(), "data"), allowUnconfined: true }],
      host: { name: "test", version: "1" },
      maxCrashes: 1,
      record: (event) => {
        if (event.type === "plugin.quarantined" || event.type === "plugin.released")
          throw new Error("the disk is full");
        seen.push(event);
      },
    });
    open.push(supervisor);
    const instance = await supervisor.instance("smoke");
    await instance.invokeHook({ hook_type: "tool_pre_invoke", payload: { do: "crash" }, context: {} }).catch(() => {});
    await instance.ended;
    expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_QUARANTINED");
    expect((await rejection(supervisor.release("smoke"))).code).toBe("NOT_RECORDED");
    expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_QUARANTINED");
    expect(typesOf(seen)).toEqual(["plugin.admitted", "plugin.started", "plugin.ended"]);
  });

  it("that others changed meanwhile does not count as crashed", async () => {
    const { supervisor, folder, standing } = watch({ files: { lib: "1" } }, { maxCrashes: 1 });
    chmodSync(join(folder, "lib"), 0o666);
    expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_REJECTED");
    chmodSync(join(folder, "lib"), 0o644);
    await supervisor.instance("smoke");
    writeFileSync(join(folder, "lib"), "2");
    await supervisor.stop("smoke");
    expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_CHANGED");
    expect(standing()).toMatchObject({ state: "rejected", crashes: 0 });
  });
});

describe("any run of starts, stops, crashes, releases and time", () => {
  type Step = "ask" | "stop" | "crash" | "release" | "time";
  const steps = fc.array(fc.constantFrom<Step>("ask", "stop", "crash", "crash", "release", "time"), { maxLength: 10 });

  it("runs at most one process, and none in quarantine, which comes with the crash that is one too many", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (acts) => {
        const { supervisor, clock, standing, crash, folder, dataFolder } = watch(
          {},
          { maxCrashes: 2, crashWindowMs: 1_000 },
        );
        const crashes: number[] = [];
        let isQuarantined = false;
        for (const act of acts) {
          if (act === "time") clock.nowMs += 600;
          if (act === "stop") await supervisor.stop("smoke");
          if (act === "release") {
            await supervisor.release("smoke");
            crashes.length = 0;
            isQuarantined = false;
          }
          if (act === "ask" || act === "crash") {
            if (isQuarantined) {
              expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_QUARANTINED");
            } else if (act === "ask") {
              await Promise.all([supervisor.instance("smoke"), supervisor.instance("smoke")]);
            } else {
              await crash();
              crashes.push(clock.nowMs);
              isQuarantined = crashes.filter((at) => clock.nowMs - at < 1_000).length >= 2;
              expect(standing()?.state).toBe(isQuarantined ? "quarantined" : "failed");
            }
          }
          const isRunning = standing()?.state === "running";
          expect(processesWith(`${folder}/`) > 0).toBe(isRunning);
        }
        await supervisor.close();
        expect(processesWith(`${folder}/`)).toBe(0);
        if (existsSync(join(dataFolder, "starts"))) {
          const pids = readFileSync(join(dataFolder, "starts"), "utf8").trim().split("\n");
          expect(pids.length).toBeLessThanOrEqual(acts.filter((act) => act === "ask" || act === "crash").length);
        }
        rmSync(folder, { recursive: true });
      }),
      { numRuns: 12 },
    );
  }, 120_000);
});
