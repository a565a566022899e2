import { join } from "node:path";
import { systemScheduler } from "@berth/jsonrpc-framing";
import { ConfinementError, openSandbox, type Sandbox, type SandboxOptions } from "@berth/process-confinement";
import { createMeasurer } from "@berth/spawn-attestation";
import { expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { createOneByOne } from "../../src/confine/plugin-sandboxes.js";
import { createPluginSlot } from "../../src/supervisor/plugin-slot.js";
import { readSupervisorOptions } from "../../src/supervisor/supervisor-terms.js";
import { createTurnstile } from "../../src/supervisor/turnstile.js";
import { emptyFolder } from "../support/plugin-folder.js";
import { rejection } from "../support/rejection.js";
import { shellPlugin } from "../support/shell-plugin.js";

/** Opens sandboxes of which the first is ended, and that is not seen so many times. */
function blindFor(looks: number): { readonly open: (options: SandboxOptions) => Promise<Sandbox>; left: () => number } {
  let left = looks;
  let isFirst = true;
  const open = async (options: SandboxOptions): Promise<Sandbox> => {
    const sandbox = await openSandbox(options);
    if (!isFirst) return sandbox;
    isFirst = false;
    const kill = async (): Promise<void> => {
      await sandbox.kill();
      if (left <= 0) return;
      left -= 1;
      throw new ConfinementError("SANDBOX_NOT_ENDED", "a process is still there");
    };
    return { ...sandbox, kill };
  };
  return { open, left: () => left };
}

partTest("bubblewrap")(
  "processes of a start that failed, and that were not seen to be gone, are ended before the plugin starts again",
  async () => {
    const plugin = {
      name: "smoke",
      folder: shellPlugin("smoke", { onCreate: '[ "$(wc -l <"$PLUGIN_DATA/starts")" -gt 1 ] || exit 3;' }),
      dataFolder: join(emptyFolder(), "data"),
    };
    const blind = blindFor(2);
    const measurer = createMeasurer();
    const terms = readSupervisorOptions({
      plugins: [plugin],
      host: { name: "test", version: "1" },
      scheduler: systemScheduler,
    });
    const slot = createPluginSlot(plugin, {
      terms,
      measurer,
      turnstile: createTurnstile(1),
      openSandbox: blind.open,
      oneByOne: createOneByOne(),
    });
    try {
      expect((await rejection(slot.instance(undefined))).code).toBe("PLUGIN_NOT_ENDED");
      expect(blind.left()).toBe(1);
      expect((await rejection(slot.instance(undefined))).code).toBe("PLUGIN_NOT_ENDED");
      expect(blind.left()).toBe(0);
      expect((await slot.instance(undefined)).state).toBe("running");
    } finally {
      await slot.close();
      await measurer.close();
    }
  },
);
