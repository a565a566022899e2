import { readdirSync, statSync } from "node:fs";
import { readOr } from "../machine/read-or.js";

/** A line of /proc/PID/stat as far as we need it. */
export interface ProcessStat {
  readonly pid: number;
  /** `Z` is a zombie, which still answers signals but is dead. */
  readonly state: string;
  readonly parent: number;
  /** Clock ticks since boot. With number, boot and pid namespace it names one process for ever. */
  readonly startTime: number;
}

/** One process of this machine, for ever. */
export interface ProcessMark {
  readonly pid: number;
  readonly startTime: number;
}

/** Undefined when there is no such process. */
export function readStat(pid: number): ProcessStat | undefined {
  const text = readOr(`/proc/${pid}/stat`, undefined);
  if (text === undefined) return undefined;
  // The name in parentheses may hold anything, also ") R 1", so what counts comes after the last one.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, parent] = fields;
  const startTime = Number(fields[19]);
  if (state === undefined || !Number.isSafeInteger(startTime)) return undefined;
  return { pid, state, parent: Number(parent), startTime };
}

/** A process that runs, or ran a moment ago: without a start time nothing is equal to it. */
export function markProcess(pid: number): ProcessMark {
  return { pid, startTime: readStat(pid)?.startTime ?? -1 };
}

/** Whether this very process still runs; a zombie does not. */
export function isAlive({ pid, startTime }: ProcessMark): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.startTime === startTime && stat.state !== "Z" && stat.state !== "X";
}

/** As `isAlive`, and `unknown` where /proc hides a process of somebody else (mount option hidepid). */
export function lookFor(mark: ProcessMark): "running" | "gone" | "unknown" {
  if (readStat(mark.pid) !== undefined) return isAlive(mark) ? "running" : "gone";
  try {
    process.kill(mark.pid, 0);
    return readStat(mark.pid) === undefined ? "unknown" : "gone"; // it came between the two looks: another one
  } catch (error) {
    return isAbsent(error) ? "gone" : "unknown";
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ESRCH";
}

/**
 * Signals this very process, not another one that got its number. False when it has ended.
 * Between look and signal lie microseconds, in which a number is not given out again: that takes a whole round of them.
 */
export function signalProcess(mark: ProcessMark, signal: NodeJS.Signals): boolean {
  if (!isAlive(mark)) return false;
  try {
    process.kill(mark.pid, signal);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** Whether a filter of system calls holds it (proc(5), `Seccomp: 2` of /proc/PID/status). */
export function isFiltered(pid: number): boolean {
  return /^Seccomp:\t2$/m.test(readOr(`/proc/${pid}/status`, ""));
}

/** Inode of the pid namespace of a process. Undefined when it is gone or may not be seen. */
export function readPidNamespace(pid: number | "self"): number | undefined {
  try {
    return statSync(`/proc/${pid}/ns/pid`).ino;
  } catch {
    return undefined;
  }
}

/** Undefined where there is no /proc to tell. */
export function readBootId(): string | undefined {
  return readOr("/proc/sys/kernel/random/boot_id", undefined)?.trim();
}

/** The children of a process that run. */
export function childrenOf(pid: number): readonly number[] {
  const text = readOr(`/proc/${pid}/task/${pid}/children`, undefined);
  if (text !== undefined) return text.split(" ").filter(Boolean).map(Number);
  // A kernel may be built without this file.
  return listProcesses().filter((other) => readStat(other)?.parent === pid);
}

/** The numbers of all processes that we can see. */
export function listProcesses(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}
