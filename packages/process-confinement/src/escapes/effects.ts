import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { listOrNone } from "../machine/read-or.js";
import type { AttemptPlan } from "./attempt-list.js";
import type { EscapeLimits } from "./escapes.js";
import { findMarked } from "./marked-processes.js";
import type { Side, Stage } from "./stage.js";

/** What of a run is known when it has ended. */
export interface RunTraces {
  /** The attempt says that it was done. */
  readonly claimed: boolean;
  readonly outputEnded: boolean;
  readonly outputBytes: number;
}

/** Tells, after a run, whether the attempt had its effect on this machine. */
export type Effect = (traces: RunTraces) => Promise<boolean>;

const settleMs = 1_000;
const stepMs = 10;

/** Looks before the run, and gives what looks after it. */
export function watchEffect(plan: AttemptPlan, stage: Stage, side: Side, limits: EscapeLimits): Effect {
  switch (plan.effect) {
    case "tcp":
    case "udp":
    case "abstract":
    case "path": {
      const name = plan.effect;
      const before = stage.listeners.arrived(name);
      return async () => stage.listeners.arrived(name) > before;
    }
    case "signal": {
      const before = stage.victim.signals();
      const arrived = (): boolean => stage.victim.signals() > before;
      return async ({ claimed }) => (claimed ? await eventually(arrived) : arrived());
    }
    case "tree": {
      const before = stateOf(stage.tree(side));
      return async () => stateOf(stage.tree(side)) !== before;
    }
    case "survivor":
      return async () => !(await eventually(() => survivors(stage).length === 0));
    case "held-output":
      return async ({ outputEnded }) => !outputEnded;
    case "set-user-id":
      return async () => holdsOtherRights(stage.workspace(side));
    case "output":
      return async ({ outputBytes }) => outputBytes >= 4 * limits.outputBytes;
    default:
      return async () => false;
  }
}

function survivors(stage: Stage): readonly number[] {
  return findMarked(stage.token).filter((pid) => pid !== stage.victim.place["pid"]);
}

/** Signals arrive, and killed processes go, a little later. */
async function eventually(holds: () => boolean): Promise<boolean> {
  for (let waited = 0; waited < settleMs; waited += stepMs) {
    if (holds()) return true;
    await pause(stepMs);
  }
  return holds();
}

/** Files that would run with the rights of their owner or group (inode(7), S_ISUID and S_ISGID). */
function holdsOtherRights(folder: string): boolean {
  return listOrNone(folder).some((name) => {
    const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
    return stat?.isFile() === true && (stat.mode & 0o6000) !== 0;
  });
}

function stateOf(folder: string): string {
  try {
    const names = readdirSync(folder).sort();
    return JSON.stringify(names.map((name) => [name, readFileSync(join(folder, name), "latin1")]));
  } catch {
    return "gone";
  }
}
