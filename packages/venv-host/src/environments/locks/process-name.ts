import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { systemCode } from "../system-fault.js";
import { tryJson } from "../try-json.js";

/** What names one process for ever, and says from where it can be looked for. */
export interface ProcessName {
  readonly pid: number;
  /** Clock ticks since boot; null where there is no /proc. */
  readonly startTime: string | null;
  readonly bootId: string | null;
  readonly pidNamespace: string | null;
  readonly host: string;
}

/** This process. */
export function thisProcess(): ProcessName {
  return {
    pid: process.pid,
    startTime: processState(process.pid)?.startTime ?? null,
    bootId: tryRead(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) ?? null,
    pidNamespace: tryRead(() => readlinkSync("/proc/self/ns/pid")) ?? null,
    host: hostname(),
  };
}

/** Reads what another process wrote of itself; undefined when it is not a name. */
export function readProcessName(text: string): ProcessName | undefined {
  const value = tryJson(text);
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, startTime, bootId, pidNamespace, host }: { readonly [Name in keyof ProcessName]?: unknown } = value;
  // From 1: kill(2) takes 0 and negative numbers for groups of processes.
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid < 1 || typeof host !== "string") return undefined;
  if (!isTextOrNull(startTime) || !isTextOrNull(bootId) || !isTextOrNull(pidNamespace)) return undefined;
  return { pid, startTime, bootId, pidNamespace, host };
}

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === "string";

/** What can be known of a process by looking at this machine. `unknown` is never read as `dead`. */
export type Life = "alive" | "dead" | "unknown";

/** From where one looks. */
export interface Viewer {
  readonly self: ProcessName;
  /** Whether the store's file system is one that only one machine at a time can have. */
  readonly isLocal: boolean;
}

/** Looks for a process. */
export function lifeOf(name: ProcessName, { self, isLocal }: Viewer): Life {
  if (name.bootId !== self.bootId) {
    return name.bootId !== null && self.bootId !== null && isLocal ? "dead" : "unknown";
  }
  if (name.host !== self.host && name.bootId === null) return "unknown";
  return name.pidNamespace === self.pidNamespace ? lifeHere(name) : "unknown";
}

function lifeHere({ pid, startTime }: ProcessName): Life {
  // Asked first: with hidepid, /proc does not show the processes of others, and they live all the same.
  if (!existsProcess(pid)) return "dead";
  const found = processState(pid);
  if (found === undefined || startTime === null) return "alive";
  // A zombie still has its number, and a number may have gone to a later process.
  return found.ended || found.startTime !== startTime ? "dead" : "alive";
}

function existsProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}

/** From /proc/PID/stat (proc(5), fields 3 and 22). */
function processState(pid: number): { readonly ended: boolean; readonly startTime: string } | undefined {
  const stat = tryRead(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The program's name stands in parentheses and may itself hold any of them.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, startTime] = [fields?.[0], fields?.[19]];
  return state === undefined || startTime === undefined ? undefined : { ended: /[ZXx]/.test(state), startTime };
}

function tryRead(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined; // no /proc here, or the process is gone: both mean "not known"
  }
}
