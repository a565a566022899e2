import { ConfinementError } from "../errors.js";
import type { FilterArchitecture } from "../seccomp/filter.js";
import type { ConfinementHost } from "./host.js";

/** What a start needs of this machine. */
export interface HostTools {
  readonly bubblewrap: string;
  readonly architecture: FilterArchitecture;
}

/**
 * Refuses where a sandbox could not be held.
 * @throws {ConfinementError} `SPAWN_FROM_WORKER`, `PLATFORM_UNSUPPORTED`, `CONFINEMENT_UNAVAILABLE`.
 */
export function refuseHere({ platform, arch, isMainThread, findTool }: ConfinementHost): HostTools {
  if (!isMainThread)
    // The signal by which bubblewrap dies with its parent belongs to the thread that forked it.
    throw new ConfinementError("SPAWN_FROM_WORKER", "sandboxes are opened from the main thread only", {
      cure: "open it in the main thread: from a worker thread it would end with that thread",
    });
  if (platform !== "linux" || (arch !== "x64" && arch !== "arm64"))
    throw new ConfinementError("PLATFORM_UNSUPPORTED", `sandboxes need Linux on x64 or arm64, not ${platform} ${arch}`);
  refuseTwoUsers(process.getuid?.(), process.geteuid?.());
  const bubblewrap = findTool("bwrap");
  if (bubblewrap === undefined)
    throw new ConfinementError("CONFINEMENT_UNAVAILABLE", "bubblewrap (bwrap) is not installed", {
      cure: "install it: apt-get install bubblewrap",
    });
  return { bubblewrap, architecture: arch };
}

// bubblewrap takes itself for a set-user-ID program then; and whoever may take the other one back has not given it up.
function refuseTwoUsers(real: number | undefined, effective: number | undefined): void {
  if (real === effective) return;
  const message = `this process has two users: the real one is ${real}, the effective one ${effective}`;
  throw new ConfinementError("CONFINEMENT_UNAVAILABLE", message, {
    cure: "become the user altogether (process.setuid, not process.seteuid), or take the effective one back first",
  });
}
