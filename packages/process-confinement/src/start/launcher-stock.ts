import { isAlive, type ProcessMark } from "../identity/process-identity.js";
import { givenAtStart, type LimitsHost } from "../limits/limits-host.js";
import type { SandboxPlan } from "../plan/bubblewrap-argv.js";
import { isPlainLine } from "../plan/start-script.js";
import { abandon } from "./abandon.js";
import type { Launcher } from "./launch.js";

/** Where a start finds a launcher that waits already. */
export interface LauncherStock {
  /** Undefined when none waits that would do. */
  take(machine: LimitsHost, plan: SandboxPlan): Promise<Launcher> | undefined;
}

export const noStock: LauncherStock = { take: () => undefined };

/** At most one launcher that waits. */
export interface FilledStock extends LauncherStock {
  /** Starts one, unless one waits. That it could not be started is told to the next start, by its own launcher. */
  fill(): void;
  /** Ends the one that waits; nothing is started any more. */
  close(): Promise<void>;
}

interface Waiting {
  readonly machine: LimitsHost;
  readonly launcher: Promise<Launcher>;
  /** Known once it was started. */
  mark: ProcessMark | undefined;
  hasFailed: boolean;
}

export function createLauncherStock(read: () => LimitsHost, start: () => Promise<Launcher>): FilledStock {
  let waiting: Waiting | undefined;
  let isClosed = false;
  const leaving = new Set<Promise<void>>();

  const discard = ({ launcher }: Waiting): void => {
    const gone = held(launcher)
      .then(({ launched }) => abandon(launched))
      .catch(() => {}) // it was not started: nothing to end
      .finally(() => leaving.delete(gone));
    leaving.add(gone);
  };
  return {
    take: (machine, { command }) => {
      const one = waiting;
      if (one === undefined || !isPlainLine(command.join(" "))) return undefined;
      waiting = undefined;
      // As root it keeps the mounts of its time.
      if (waits(one) && givenAtStart(one.machine) === givenAtStart(machine)) return held(one.launcher);
      discard(one);
      return undefined;
    },
    fill: () => {
      if (isClosed || waiting !== undefined) return;
      const one: Waiting = { machine: read(), launcher: start(), mark: undefined, hasFailed: false };
      one.launcher.then(
        ({ launched }) => {
          one.mark = launched.outer;
          if (waiting === one) launched.keepsAlive(false);
        },
        () => {
          one.hasFailed = true;
        },
      );
      waiting = one;
    },
    close: async () => {
      isClosed = true;
      if (waiting !== undefined) discard(waiting);
      waiting = undefined;
      await Promise.all(leaving);
    },
  };
}

/** From now on it is a sandbox's, and keeps the program alive. */
async function held(launcher: Promise<Launcher>): Promise<Launcher> {
  const one = await launcher;
  one.launched.keepsAlive(true);
  return one;
}

/** Asked of the kernel: Node tells of an end only later. */
function waits({ mark, hasFailed }: Waiting): boolean {
  return !hasFailed && (mark === undefined || isAlive(mark));
}
