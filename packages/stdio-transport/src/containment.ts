import type { Containment } from "./child.js";

/** What this machine can do to hold children. */
export interface ContainmentReport {
  /** What `openChild` would reach with `containment: "auto"`. */
  readonly containment: Containment;
  /** What starts and holds the command: `sh` where perl is absent, with the limits that README § Launchers names. */
  readonly supervisor: "perl" | "sh";
  /** Why it is not more, one sentence each; empty when nothing is missing. */
  readonly missing: readonly string[];
}

/** Tries it: starts the launcher once, without a command. For `doctor` commands; `openChild` finds out by itself. */
export async function probeContainment(options: { readonly signal?: AbortSignal } = {}): Promise<ContainmentReport> {
  throw new Error(`not built yet: ${options.signal?.aborted}`);
}
