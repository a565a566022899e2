import { statSync } from "node:fs";
import type { Freezer } from "../limits/freezer.js";
import { boundSignal } from "../waits/bound-signal.js";
import { measureDeleted } from "./measure-deleted.js";
import { type TreeUsage, walkTree } from "./measure-folder.js";
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
/** Who is longer in the kernel, such as in a write of gigabytes, is not waited for. */
const standstillMs = 1_000;
/** How long a sandbox is held still for one look: a tree that takes longer was not seen. */
const maxFrozenMs = 10_000;

/**
 * Looks at all folders. Where something changed meanwhile, what was found is not the state of any moment: a program that sees the
 * walk by inotify moves its files past it. Then all of them are looked at once more, while nothing of the sandbox runs.
 */
export async function lookAtAll(sights: Sights, signal: AbortSignal): Promise<readonly Look[]> {
  const looks = await lookOnce(sights, signal);
  const { freezer } = sights;
  const isOver = looks.some(({ verdict }) => verdict === "over");
  if (freezer === undefined || isOver || !looks.some(({ changed }) => changed)) return looks;
  return lookFrozen(sights, freezer, signal);
}

async function lookFrozen(sights: Sights, freezer: Freezer, signal: AbortSignal): Promise<readonly Look[]> {
  const bound = boundSignal(maxFrozenMs, () => new Error(`it takes longer than ${maxFrozenMs} ms`), signal);
  try {
    const standsStill = await freezer.freeze(standstillMs, bound.signal);
    const looks = await lookOnce(sights, bound.signal);
    // The host may write all the while: it is trusted.
    return standsStill
      ? looks
      : looks.map((look) => (look.changed ? missed(look.path, "its processes do not stand still") : look));
  } catch (cause) {
    signal.throwIfAborted();
    return sights.folders.map(({ path }) => missed(path, `it cannot be looked at while frozen: ${messageOf(cause)}`));
  } finally {
    freezer.thaw();
    bound.release();
  }
}

async function lookOnce({ folders, init }: Sights, signal: AbortSignal): Promise<readonly Look[]> {
  const sinceMs = Date.now() - clockSlackMs;
  const looks: Look[] = [];
  for (const { path, maxBytes } of folders) {
    looks.push(await look(path, maxBytes, { init, sinceMs, signal }));
    if (looks.at(-1)?.verdict === "over") break;
  }
  return looks;
}

interface LookOptions {
  readonly init: number | undefined;
  readonly sinceMs: number;
  readonly signal: AbortSignal;
}

async function look(path: string, maxBytes: number, { init, sinceMs, signal }: LookOptions): Promise<Look> {
  try {
    const deleted = init === undefined ? 0 : await measureDeleted(init, statSync(path).dev, signal);
    if (deleted === undefined) return { path, verdict: "over", reason: tooManyFiles, changed: false };
    return { path, ...(await walkTree(path, { maxBytes }, { alreadyBytes: deleted, sinceMs, signal })) };
  } catch (cause) {
    signal.throwIfAborted();
    return missed(path, `it cannot be looked at: ${messageOf(cause)}`);
  }
}

const tooManyFiles = "its processes have too many files open or mapped";

function missed(path: string, reason: string): Look {
  return { path, verdict: "unseen", reason, changed: false };
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
