import type { Containment } from "./child-handle.js";
import { readChildOptions } from "./child-terms.js";
import { endEverything, hold } from "./end-everything.js";
import { thisHost } from "./host-system.js";
import { launch } from "./launch.js";
import { refuseHere } from "./refuse-here.js";
import { boundStart } from "./start-bound.js";

/** What this machine can do to hold children. */
export interface ContainmentReport {
  /** What `openChild` reaches with `containment: "auto"`. */
  readonly containment: Containment;
  /** What starts and holds the command: `sh` where perl is absent, with the limits that README § Launchers names. */
  readonly supervisor: "perl" | "sh";
  /** Why it is not more, one sentence each; empty when nothing is missing. */
  readonly missing: readonly string[];
}

/**
 * Tries it: starts a supervisor and never lets it run a command. For `doctor` commands; `openChild` finds out by itself.
 * @throws {StdioTransportError} As `openChild`.
 */
export async function probeContainment(options: { readonly signal?: AbortSignal } = {}): Promise<ContainmentReport> {
  options.signal?.throwIfAborted();
  const host = thisHost();
  refuseHere(host, "true");
  const terms = readChildOptions({ file: "/bin/sh", args: [], env: {}, signal: options.signal }, host.scheduler);
  const bound = boundStart(terms.startTimeoutMs, terms.signal, terms.scheduler);
  try {
    const { supervision, containment, launcher, missing } = await launch(terms, host, bound);
    await endEverything(hold(supervision, undefined, terms.killMs, terms.scheduler));
    return { containment, supervisor: launcher.supervisor, missing };
  } finally {
    bound.release();
  }
}
