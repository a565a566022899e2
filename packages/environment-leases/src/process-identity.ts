import { readFileSync, readlinkSync } from "node:fs";

/** Field 22 of /proc/PID/stat, in ticks since boot; undefined when there is no such living process. */
export function startTimeOf(pid: number): string | undefined {
  const text = tryRead(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything, so what counts comes after the last one.
  const [state, ...fields] = text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? [];
  return state === undefined || state === "Z" || state === "X" ? undefined : fields[18];
}

/** With number and start time it names one process for ever. Undefined where there is no /proc to tell. */
export function bootId(): string | undefined {
  return tryRead("/proc/sys/kernel/random/boot_id")?.trim();
}

/** Number of the pid namespace within which this process sees others. Undefined where there is no /proc. */
export function pidNamespace(): string | undefined {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0];
  } catch {
    return undefined;
  }
}

/** Undefined for a file that is gone or not ours to see, and for every file where there is no /proc. */
export function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
