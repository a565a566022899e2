import { readStat } from "../identity/process-identity.js";
import { listOrNone, readOr } from "../machine/read-or.js";
import { inSlices } from "./slices.js";

/** A thread of the sandbox at one moment. */
export interface ThreadSight {
  /** Number and start time: one thread for ever. */
  readonly mark: string;
  readonly runs: boolean;
  /** How often it gave a processor back; who ran did. */
  readonly switches: string;
}

/** Threads between two breaths of the event loop: about a millisecond. */
const sliceThreads = 32;

/** All threads of the sandbox. Complete where none of them ran meanwhile: else one may be born and another end past the listing. */
export function listThreads(init: number, signal?: AbortSignal): Promise<readonly ThreadSight[]> {
  return inSlices(seeThreads(init), signal);
}

function* seeThreads(init: number): Generator<void, readonly ThreadSight[]> {
  const sights: ThreadSight[] = [];
  const processes = [init];
  for (let pid = processes.pop(); pid !== undefined; pid = processes.pop()) {
    for (const thread of threadsOf(pid)) {
      processes.push(...childrenOfThread(pid, thread));
      sights.push(seeThread(Number(thread)));
      if (sights.length % sliceThreads === 0) yield;
    }
  }
  return sights;
}

export function threadsOf(pid: number): readonly string[] {
  return listOrNone(`/proc/${pid}/task`);
}

/** The kernel lists children by the thread that they belong to, and gives them to another one when that ends. */
export function childrenOfThread(pid: number, thread: string): readonly number[] {
  return readOr(`/proc/${pid}/task/${thread}/children`, "").split(" ").filter(Boolean).map(Number);
}

function seeThread(thread: number): ThreadSight {
  const status = readOr(`/proc/${thread}/status`, "");
  return {
    mark: `${thread} ${readStat(thread)?.startTime}`,
    // One that ended since it was listed ran, too.
    runs: !/^State:\t[^RX]/m.test(status),
    switches: (status.match(/^(non)?voluntary_ctxt_switches:.*$/gm) ?? []).join(),
  };
}

export function someRun(sights: readonly ThreadSight[]): boolean {
  return sights.some(({ runs }) => runs);
}

/** Whether between two sights nothing of the sandbox came, and nothing went unseen. */
export function areSame(before: readonly ThreadSight[], after: readonly ThreadSight[]): boolean {
  const marks = new Set(before.map(({ mark }) => mark));
  return before.length === after.length && after.every(({ mark }) => marks.has(mark));
}

/** Whether between two sights nothing of the sandbox ran: all that it held in the meantime, it held all the time. */
export function stoodStill(before: readonly ThreadSight[], after: readonly ThreadSight[]): boolean {
  if (someRun(before) || someRun(after) || !areSame(before, after)) return false;
  const switches = new Map(before.map((sight) => [sight.mark, sight.switches]));
  return after.every((sight) => switches.get(sight.mark) === sight.switches);
}
