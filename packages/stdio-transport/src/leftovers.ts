import type { Scheduler } from "@berth/jsonrpc-framing";
import type { ChildRecord } from "./child-record.js";
import { isAlive, listProcesses, type ProcessStat } from "./process-identity.js";
import { pause } from "./within.js";

const pollMs = 10;

/** How long processes are given to stand still: one in a system call that cannot be interrupted takes its time. */
const stopMs = 200;

/** How long processes that cannot be proved to be the child's are looked at: another sweep may be ending them just now. */
const settleMs = 500;

/** Whether the session number is certainly still the child's, though none of its recorded processes need be left. */
export type SessionTrust = "certain" | "unknown";

/**
 * Kills what is left of a child whose supervisor did not do it, until nobody is. A process is the child's when it is
 * recorded (number and start time), shares the session of one that is, or descends from one that is.
 * @returns Whether all are gone, or that processes with its session number live which cannot be proved to be its own.
 */
export async function endLeftovers(
  record: ChildRecord,
  trust: SessionTrust,
  timeoutMs: number,
  scheduler: Scheduler,
): Promise<"gone" | "unproven" | "alive"> {
  const begun = scheduler.now();
  const deadline = begun + timeoutMs;
  const settled = begun + Math.min(settleMs, timeoutMs);
  const stopped = begun + Math.min(stopMs, timeoutMs);
  let trusted = trust === "certain";
  let wasStill = false;
  for (;;) {
    const left = findLeft(record, trusted);
    if (left.own.length === 0) {
      if (!left.unproven) return "gone";
      if (scheduler.now() >= settled) return "unproven";
    }
    // A living member pins the session's number, so those that are still there after it are the child's too.
    trusted ||= left.own.some((stat) => stat.session === record.session);
    const isStill = left.own.every(({ state }) => state === "T") || scheduler.now() >= stopped;
    // All stand still, and were looked at once more since: one that runs may fork a child that nobody would know as theirs.
    const signal = isStill && wasStill ? "SIGKILL" : "SIGSTOP";
    for (const { pid } of left.own) signalOne(pid, signal);
    wasStill = isStill;
    if (scheduler.now() >= deadline) return "alive";
    await pause(signal === "SIGSTOP" ? 1 : pollMs, scheduler);
  }
}

function findLeft(record: ChildRecord, trusted: boolean): { own: readonly ProcessStat[]; unproven: boolean } {
  const all = listProcesses();
  const isRecorded = (stat: ProcessStat): boolean =>
    record.processes.some(({ pid, startTime }) => pid === stat.pid && startTime === stat.startTime);
  const session = all.filter((stat) => stat.session === record.session);
  const isOurs = trusted || session.some(isRecorded);
  const seeds = new Set([...all.filter(isRecorded), ...(isOurs ? session : [])]);
  return { own: withDescendants(seeds, all), unproven: !isOurs && session.length > 0 && !isRecycled(record) };
}

/** Whether another process has the session's number now: then nobody of the old session can be left. */
function isRecycled(record: ChildRecord): boolean {
  const leader = record.processes.find(({ pid }) => pid === record.session);
  const holder = listProcesses().find(({ pid }) => pid === record.session);
  return holder !== undefined && leader !== undefined && !isAlive(leader.pid, leader.startTime);
}

function withDescendants(seeds: ReadonlySet<ProcessStat>, all: readonly ProcessStat[]): readonly ProcessStat[] {
  const own = new Set(seeds);
  let before = -1;
  while (before < own.size) {
    before = own.size;
    const numbers = new Set([...own].map(({ pid }) => pid));
    for (const stat of all) if (numbers.has(stat.parent)) own.add(stat);
  }
  return [...own];
}

function signalOne(pid: number, signal: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH: it is gone. EPERM: it took another user's rights, and stays in the list until the deadline.
  }
}
