import type { Scheduler } from "@berth/jsonrpc-framing";
import type { ChildTerms } from "./child-terms.js";
import { endEverything, type Held } from "./end-everything.js";
import { createGate } from "./gate.js";
import { hasGroupMembers } from "./process-identity.js";
import type { Supervision } from "./supervision.js";
import { pause, within } from "./within.js";

/** Where to begin: `terminate` when the command is gone and others may be left, `kill` to wait for nothing. */
export type FirstStage = "input" | "terminate" | "kill";

/** The end of one child (MCP 2025-11-25, Lifecycle § Shutdown, stdio), which may be asked for from several sides. */
export interface Ending {
  /** Begins it, once; every call gets the same promise. `kill` cuts the stages short that are under way. */
  begin(first: FirstStage): Promise<void>;
}

export function createEnding(held: Held, terms: ChildTerms, endInput: () => void): Ending {
  const { supervision } = held;
  const hurry = createGate<void>();
  let isHurried = false;
  let ending: Promise<void> | undefined;

  const stage = async (waits: readonly Promise<unknown>[], graceMs: number): Promise<void> => {
    if (!isHurried) await within([...waits, supervision.ended, hurry.passed], graceMs, terms.scheduler);
  };
  const run = async (first: FirstStage): Promise<void> => {
    endInput();
    if (first === "input") await stage([supervision.exited], terms.inputMs);
    if (!supervision.isOver() && !isHurried && hasMembers(supervision)) {
      supervision.channel.tell("TERM");
      const looking = new AbortController();
      const alone = supervision.supervisor === "sh" ? [whenAlone(supervision, terms.scheduler, looking.signal)] : [];
      await stage(alone, terms.terminateMs);
      looking.abort();
    }
    await endEverything(held);
  };
  const begin = (first: FirstStage): Promise<void> => {
    if (first === "kill") {
      isHurried = true;
      hurry.open();
    }
    ending ??= run(first);
    return ending;
  };
  return { begin };
}

/** A shell supervisor stays in the group to the end and cannot tell whether anybody else is there; Perl ends with the last. */
function hasMembers({ supervisor, pid }: Supervision): boolean {
  return supervisor === "perl" || hasGroupMembers(pid, 1);
}

const lookMs = 20;

/** Resolves when a shell supervisor is the last of its group. */
async function whenAlone(supervision: Supervision, scheduler: Scheduler, until: AbortSignal): Promise<void> {
  while (hasMembers(supervision) && !supervision.isOver()) {
    await pause(lookMs, scheduler);
    if (until.aborted) return;
  }
}
