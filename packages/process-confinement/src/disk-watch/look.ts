import { statSync } from "node:fs";
import type { Freezer } from "../limits/freezer.js";
import { holdStill } from "./hold-still.js";
import type { DeletedBytes } from "./measure-deleted.js";
import { type TreeUsage, walkTree } from "./measure-folder.js";
import { lookAtOpenFiles, measureHeld } from "./open-files.js";
import type { WatchedFolder } from "./watched-folders.js";

/** What can be looked at. */
export interface Sights {
  readonly folders: readonly WatchedFolder[];
  /** Process 1 of the sandbox as this machine numbers it; its processes may hold files that have no name any more. */
  readonly init?: number | undefined;
  /** Holds the sandbox still. Without one, what is moved during a look may be missed. */
  readonly freezer?: Freezer | undefined;
}

/** What a look found of one folder. */
export interface Look extends Pick<TreeUsage, "verdict" | "reason" | "changed"> {
  readonly path: string;
}

/** A change takes its time from the clock's last tick, 10 ms ago at most (CONFIG_HZ=100). */
const clockSlackMs = 20;

/**
 * Looks at all folders, after the open files. Where something changed meanwhile, what was found is not the state of any moment: a
 * program that sees the walk by inotify moves its files past it. Then all is looked at once more, while nothing of the sandbox runs.
 */
export async function lookAtAll(sights: Sights, signal: AbortSignal): Promise<readonly Look[]> {
  const { freezer } = sights;
  const looks = await lookOnce(sights, signal, (init) => lookAtOpenFiles(init, freezer, signal));
  const isOver = looks.some(({ verdict }) => verdict === "over");
  if (freezer === undefined || isOver || !looks.some(({ changed }) => changed)) return looks;
  return lookFrozen(sights, freezer, signal);
}

async function lookFrozen(sights: Sights, freezer: Freezer, signal: AbortSignal): Promise<readonly Look[]> {
  try {
    return await holdStill(freezer, signal, async (standsStill, bound) => {
      const looks = await lookOnce(sights, bound, (init) => measureHeld(init, standsStill, bound));
      // The host may write all the while: it is trusted.
      return standsStill
        ? looks
        : looks.map((look) => (look.changed ? missed(look.path, "its processes do not stand still") : look));
    });
  } catch (cause) {
    signal.throwIfAborted();
    return sights.folders.map(({ path }) => missed(path, `it cannot be looked at while frozen: ${messageOf(cause)}`));
  }
}

async function lookOnce(
  { folders, init }: Sights,
  signal: AbortSignal,
  lookAtOpen: (init: number) => Promise<DeletedBytes | undefined>,
): Promise<readonly Look[]> {
  const sinceMs = Date.now() - clockSlackMs;
  const deleted = await seeDeleted(init, signal, lookAtOpen);
  if ("verdict" in deleted) return folders.map(({ path }) => ({ path, ...deleted }));
  const looks: Look[] = [];
  for (const { path, maxBytes } of folders) {
    looks.push(await look(path, maxBytes, { deleted, sinceMs, signal }));
    if (looks.at(-1)?.verdict === "over") break;
  }
  return looks;
}

/** What of the open files is said of every folder, when they cannot be counted. */
async function seeDeleted(
  init: number | undefined,
  signal: AbortSignal,
  lookAtOpen: (init: number) => Promise<DeletedBytes | undefined>,
): Promise<DeletedBytes | Omit<Look, "path">> {
  if (init === undefined) return new Map();
  try {
    return (await lookAtOpen(init)) ?? { verdict: "over", reason: tooManyFiles, changed: false };
  } catch (cause) {
    signal.throwIfAborted();
    return unseen(`its open files cannot be looked at: ${messageOf(cause)}`);
  }
}

interface LookOptions {
  readonly deleted: DeletedBytes;
  readonly sinceMs: number;
  readonly signal: AbortSignal;
}

async function look(path: string, maxBytes: number, { deleted, sinceMs, signal }: LookOptions): Promise<Look> {
  try {
    const alreadyBytes = deleted.get(statSync(path).dev) ?? 0;
    return { path, ...(await walkTree(path, { maxBytes }, { alreadyBytes, sinceMs, signal })) };
  } catch (cause) {
    signal.throwIfAborted();
    return missed(path, `it cannot be looked at: ${messageOf(cause)}`);
  }
}

const tooManyFiles = "its processes have too many files open or mapped";

function missed(path: string, reason: string): Look {
  return { path, ...unseen(reason) };
}

function unseen(reason: string): Omit<Look, "path"> {
  return { verdict: "unseen", reason, changed: false };
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
