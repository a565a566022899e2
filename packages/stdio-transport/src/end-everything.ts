import type { Scheduler } from "@berth/jsonrpc-framing";
import type { ChildRecord } from "./child-record.js";
import { StdioTransportError } from "./errors.js";
import { endLeftovers } from "./leftovers.js";
import type { Supervision } from "./supervision.js";
import { within } from "./within.js";

/** A supervision, and the proof of its end. */
export interface Held {
  readonly supervision: Supervision;
  /** Resolves when no process is left; with false when some survived SIGKILL. */
  readonly gone: Promise<boolean>;
  readonly killMs: number;
  readonly scheduler: Scheduler;
}

/** Of `killMs`: for the supervisor to do it itself, for the launcher's end after that, and for what is left then. */
const share = 1 / 3;

/** Without record (no /proc) the supervisor's word has to do. */
export function hold(
  supervision: Supervision,
  record: ChildRecord | undefined,
  killMs: number,
  scheduler: Scheduler,
): Held {
  const gone = supervision.ended.then(async ({ code }) => {
    // 0: the supervisor saw the last process go, or it was process 1 and took all with it.
    const sawAllEnd = code === 0 && supervision.supervisor === "perl";
    if (sawAllEnd || record === undefined) return true;
    return (await endLeftovers(record, "certain", killMs * share, scheduler)) === "gone";
  });
  return { supervision, gone, killMs, scheduler };
}

/**
 * SIGKILL to everything, now.
 * @throws {StdioTransportError} `CHILD_NOT_ENDED` when the absence of everybody was not confirmed within `killMs`.
 */
export async function endEverything({ supervision, gone, killMs, scheduler }: Held): Promise<void> {
  supervision.channel.tell("KILL");
  if (!(await within([supervision.ended], killMs * share, scheduler))) {
    // The supervisor was stopped by somebody, or is stuck: end it from outside.
    supervision.killLauncher();
    supervision.channel.destroy();
  }
  const confirmed = (await within([gone], killMs * share * 2, scheduler)) && (await gone);
  if (confirmed) return;
  throw new StdioTransportError("CHILD_NOT_ENDED", `processes of the child survived SIGKILL for ${killMs} ms`);
}
