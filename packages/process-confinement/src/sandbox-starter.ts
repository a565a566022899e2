import { ConfinementError } from "./errors.js";
import { thisLimitsHost } from "./limits/limits-host.js";
import { openSandboxOn } from "./open-sandbox.js";
import type { Sandbox, SandboxOptions } from "./sandbox.js";
import { type ConfinementHost, thisHost } from "./start/host.js";
import { startLauncher } from "./start/launch.js";
import { createLauncherStock } from "./start/launcher-stock.js";
import { refuseHere } from "./start/refuse-here.js";

/** Opens sandboxes one after the other. */
export interface SandboxStarter extends AsyncDisposable {
  /**
   * As `openSandbox`, faster from the second on. The sandboxes are the caller's to close.
   * @throws {ConfinementError} `STARTER_CLOSED`, and what `openSandbox` throws.
   */
  open(options: SandboxOptions): Promise<Sandbox>;
  /** Ends what waits, and resolves when that is gone. Sandboxes that were opened live on. */
  close(): Promise<void>;
}

/**
 * Keeps, after each start, one shell that waits to become the next bubblewrap: what a start does before that is then done. It
 * ends with this process, also when that is killed, and does not keep it alive. One that waits since before the mounts, the control groups, the rlimits, the
 * rights or the share of this process (nice value, processors, OOM score) changed is not used.
 */
export function createSandboxStarter(): SandboxStarter {
  return createSandboxStarterOn(thisHost());
}

/** As `createSandboxStarter`, on a machine that is passed in. */
export function createSandboxStarterOn(host: ConfinementHost): SandboxStarter {
  const stock = createLauncherStock(
    () => thisLimitsHost(host.findTool),
    async () => startLauncher(host, { tools: refuseHere(host) }),
  );
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= stock.close());
  return {
    open: async (options) => {
      if (closing !== undefined) throw new ConfinementError("STARTER_CLOSED", "the starter of sandboxes was closed");
      try {
        return await openSandboxOn(host, options, stock);
      } finally {
        stock.fill();
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
