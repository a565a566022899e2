import { probe } from "@berth/process-confinement";
import { type BubblewrapProviderOptions, manageSandboxes } from "./bubblewrap/manage-sandboxes.js";
import type { ManagedProvider } from "./provider.js";

export type { BubblewrapProviderOptions } from "./bubblewrap/manage-sandboxes.js";

/**
 * Environments that are bubblewrap sandboxes with a workspace in memory. What this machine holds is tried first, unless a
 * report tells it or `endsOnly` is set; what it cannot hold, or was not seen to hold, is refused.
 * @throws {LeaseError} `CAPABILITY_MISSING` with cause and cure when sandboxes cannot be held here, `OPTION_INVALID`.
 */
export async function createBubblewrapProvider(options: BubblewrapProviderOptions): Promise<ManagedProvider> {
  const { endsOnly = false, report, signal } = options;
  return manageSandboxes(options, endsOnly ? undefined : (report ?? (await probe({ signal }))));
}
