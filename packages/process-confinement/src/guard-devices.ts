import { statSync } from "node:fs";
import { ConfinementError } from "./errors.js";

/** What goes before the shell that becomes bubblewrap, and what that shell does first. */
export interface DeviceGuard {
  readonly before: readonly string[];
  readonly steps: readonly string[];
}

/**
 * Keeps a sandbox of root from changing the devices of the machine for everybody: `/dev/null` inside is the machine's own, and
 * who owns it outside may change its mode, whatever rights it has inside. bubblewrap's binds of devices inherit that the tree
 * they come from is read-only; made read-only by bubblewrap itself they could not be opened any more. A device on a read-only
 * mount can be written to all the same.
 * @throws {ConfinementError} `CONFINEMENT_UNAVAILABLE`.
 */
export function guardDevices(isOwner: boolean, findTool: (name: string) => string | undefined): DeviceGuard {
  if (!isOwner) return { before: [], steps: [] };
  const [unshare, mount] = ["unshare", "mount"].map(findTool);
  if (unshare === undefined || mount === undefined)
    throw new ConfinementError("CONFINEMENT_UNAVAILABLE", "a sandbox of root needs unshare and mount", {
      cure: "install them: apt-get install util-linux mount",
    });
  // Looked at again, for a mount that takes an option and does not heed it.
  return { before: [unshare, "--mount", "--"], steps: [`${mount} --bind -o ro /dev /dev`, "[ ! -w /dev ]"] };
}

/** In a container whose root is somebody else outside, the devices belong to nobody. */
export function ownsDevices(): boolean {
  return statSync("/dev/null").uid === process.getuid?.();
}
