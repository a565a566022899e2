import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import {
  createPluginSupervisor,
  type PluginEvent,
  type PluginSupervisor,
  type SupervisedPlugin,
} from "../../src/index.js";
import { arePopulated, controlGroups, memoryLimit } from "../support/control-groups.js";
import { emptyFolder } from "../support/plugin-folder.js";
import { rejection } from "../support/rejection.js";
import { shellPlugin } from "../support/shell-plugin.js";

const it = partTest("bubblewrap");
const host = { name: "test", version: "1" };
const program = fileURLToPath(new URL("programs/host.mjs", import.meta.url));

interface Supervised extends AsyncDisposable {
  readonly supervisor: PluginSupervisor;
  readonly folder: string;
  readonly events: readonly PluginEvent[];
}

function supervise(changes: Partial<SupervisedPlugin> = {}): Supervised {
  const folder = shellPlugin();
  const events: PluginEvent[] = [];
  const supervisor = createPluginSupervisor({
    plugins: [{ name: "smoke", folder, dataFolder: join(emptyFolder(), "data"), ...changes }],
    host,
    record: (event) => void events.push(event),
    maxCrashes: 1,
  });
  return { supervisor, folder, events, [Symbol.asyncDispose]: () => supervisor.close() };
}

/** Processes that this one started: those that wait are among them. */
function children(): readonly string[] {
  return readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim().split(" ").filter(Boolean);
}

describe("the sandbox that waits for the next start of a plugin", () => {
  it("is there once an instance has ended, serves the next start, and goes with the supervisor", async () => {
    const none = children();
    const { supervisor } = supervise();
    const first = await supervisor.instance("smoke");
    await supervisor.stop("smoke");
    // Its launcher's, and that of a next one, which waits too.
    const waiting = children();
    expect(waiting.length).toBeGreaterThan(none.length);
    const second = await supervisor.instance("smoke");
    expect(second.id).not.toBe(first.id);
    expect((await second.health()).status).toBe("degraded");
    await supervisor.close();
    expect(children()).toEqual(none);
  });

  it("runs nothing of a plugin that was changed meanwhile", async () => {
    await using supervised = supervise();
    const { supervisor, folder, events } = supervised;
    await supervisor.instance("smoke");
    await supervisor.stop("smoke");
    appendFileSync(join(folder, "bin/plugin"), "\n# changed\n");
    expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_CHANGED");
    expect(events.filter(({ type }) => type === "plugin.started")).toHaveLength(1);
  });

  it("is not kept for a plugin that is in quarantine", async () => {
    const none = children();
    await using supervised = supervise();
    const { supervisor } = supervised;
    const instance = await supervisor.instance("smoke");
    await rejection(instance.invokeHook({ hook_type: "tool_pre_invoke", payload: "crash" }));
    await instance.ended;
    expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_QUARANTINED");
    await expect.poll(() => children().length, { timeout: 20_000 }).toBeLessThanOrEqual(none.length + 1);
  });

  it("and its control groups are gone when the next host comes, after the first was killed", async () => {
    const folder = shellPlugin();
    const limits = await memoryLimit();
    const args = [program, folder, join(emptyFolder(), "data"), JSON.stringify(limits)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout });
    const [said] = await once(lines, "line", { signal: AbortSignal.timeout(20_000) });
    expect(said).toBe("running");
    const left = (): readonly string[] => controlGroups(`plugin-${child.pid}-`);
    expect(left().length > 0).toBe(limits.memoryBytes !== undefined);
    child.kill("SIGKILL");
    await once(child, "close");
    await expect.poll(() => arePopulated(left()), { timeout: 20_000 }).toBe(false);
    await using supervised = supervise();
    expect(supervised.supervisor.list()).toHaveLength(1);
    expect(left()).toEqual([]);
  });
});
