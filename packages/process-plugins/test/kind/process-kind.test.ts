import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  createPluginSupervisor,
  createProcessKind,
  type PluginSupervisor,
  type ProcessKind,
  type ProcessKindEntry,
} from "../../src/index.js";
import { emptyFolder } from "../support/plugin-folder.js";
import { rejection } from "../support/rejection.js";
import { shellPlugin } from "../support/shell-plugin.js";

interface Call {
  readonly hook: string;
  readonly payload: string;
}

const open: PluginSupervisor[] = [];
afterEach(() => Promise.all(open.splice(0).map((supervisor) => supervisor.close())));

function kindOf(
  folder: string,
  maxCrashes = 3,
): { readonly kind: ProcessKind<Call, string>; readonly supervisor: PluginSupervisor } {
  const supervisor = createPluginSupervisor({
    plugins: [{ name: "guard", folder, dataFolder: join(emptyFolder(), "data"), allowUnconfined: true }],
    host: { name: "test", version: "1" },
    maxCrashes,
  });
  open.push(supervisor);
  const kind = createProcessKind<Call, string>({
    supervisor,
    writeCall: ({ hook, payload }) => ({ hook_type: hook, payload: { do: payload }, context: {} }),
    readReply: (answer, hook) => `${hook}: ${JSON.stringify(answer)}`,
  });
  return { kind, supervisor };
}

const entry = (changes: Partial<ProcessKindEntry> = {}): ProcessKindEntry => ({
  name: "guard",
  hooks: ["tool_pre_invoke"],
  config: undefined,
  more: { dir: "/plugins/guard" },
  ...changes,
});
const quiet = { onProgress: () => {} };

describe("the kind process", () => {
  it("runs the hooks of a plugin, and says which code answered", async () => {
    const { kind, supervisor } = kindOf(shellPlugin());
    expect(kind.name).toBe("process");
    expect(kind.check(entry())).toEqual([]);
    const steps: string[] = [];
    const plugin = await kind.open(entry(), { onProgress: (step) => void steps.push(step) });
    expect(steps).toEqual(["measuring and starting guard"]);
    const answer = await plugin.call({ hook: "tool_pre_invoke", payload: "nothing" }, {});
    expect(answer).toBe('tool_pre_invoke: {"continue_processing":true}');
    const [standing] = supervisor.list();
    expect(plugin.evidence).toEqual({
      version: "1.0.0",
      digest: standing?.digest,
      confinement: "unconfined",
      instance: standing?.instance,
    });
    expect(await plugin.health({})).toEqual({ state: "ready", message: "degraded: as always" });
    await plugin.close();
    await plugin.close();
    expect(await plugin.health({})).toEqual({ state: "idle", message: "it starts with the next call" });
    expect(plugin.evidence).not.toHaveProperty("instance");
    await plugin.call({ hook: "tool_pre_invoke", payload: "nothing" }, {});
  });

  it("fails the call of a plugin that crashes, and runs the next one in a new instance", async () => {
    const { kind } = kindOf(shellPlugin(), 2);
    const plugin = await kind.open(entry(), quiet);
    expect((await rejection(plugin.call({ hook: "tool_pre_invoke", payload: "crash" }, {}))).code).toBe(
      "PLUGIN_EXITED",
    );
    await plugin.call({ hook: "tool_pre_invoke", payload: "nothing" }, {});
    await rejection(plugin.call({ hook: "tool_pre_invoke", payload: "crash" }, {}));
    expect((await rejection(plugin.call({ hook: "tool_pre_invoke", payload: "nothing" }, {}))).code).toBe(
      "PLUGIN_QUARANTINED",
    );
    expect(await plugin.health({})).toMatchObject({ state: "failed", message: expect.stringContaining("code 9") });
  });

  it("passes on that the wait is over", async () => {
    const { kind } = kindOf(shellPlugin());
    const reason = new Error("enough");
    await expect(kind.open(entry(), { ...quiet, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const plugin = await kind.open(entry(), quiet);
    const call = plugin.call({ hook: "tool_pre_invoke", payload: "nothing" }, { signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toBe(reason);
  });

  it("refuses hooks that the plugin does not take", async () => {
    const { kind } = kindOf(shellPlugin());
    const error = await rejection(kind.open(entry({ hooks: ["tool_pre_invoke", "prompt_pre_fetch"] }), quiet));
    expect(error).toMatchObject({ code: "PLUGIN_REJECTED", advice: "it takes tool_pre_invoke" });
    expect(error.problems).toEqual(["hooks: the plugin does not take prompt_pre_fetch"]);
  });

  it.each([
    { changes: { more: {} }, problem: "dir is missing: the path of the plugin's folder" },
    { changes: { more: { dir: 7 } }, problem: "dir is not the path of the plugin's folder" },
    {
      changes: { more: { dir: "x", direction: 1 } },
      problem:
        "direction is no key of a plugin of the kind process; there are dir, digest, interpreters, read_only, allow_unconfined, limits, timeouts",
    },
    {
      changes: { config: {} },
      problem: "config is not taken by the kind process: what a plugin needs stands in its plugin.json",
    },
    { changes: { name: "other" }, problem: "name: no plugin other is supervised here" },
  ])("tells what is wrong with an entry: $problem", ({ changes, problem }) => {
    expect(kindOf(shellPlugin()).kind.check(entry(changes))).toEqual([problem]);
  });
});
