import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/**
 * The running processes that bear a text in their environment or command line; the dead are left out. One that is just being
 * executed bears nothing for a moment: that somebody is there has to be polled for, that nobody is can be asked.
 */
export function bearersOf(token: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && (has(pid, "environ", token) || has(pid, "cmdline", token)));
}

/** Asks until none is left, since nobody tells of the end of a process that is not ours. Returns those that are. */
export async function untilNoneBears(token: string, boundMs = 5_000): Promise<readonly number[]> {
  return untilEmpty(() => bearersOf(token), boundMs);
}

/** Asks until the list is empty or the bound is over; returns it. */
export async function untilEmpty<T>(list: () => readonly T[], boundMs = 5_000): Promise<readonly T[]> {
  const bound = performance.now() + boundMs;
  for (;;) {
    const left = list();
    if (left.length === 0 || performance.now() > bound) return left;
    await pause(5);
  }
}

function has(pid: number, file: "environ" | "cmdline", token: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1").includes(token);
  } catch {
    return false; // it ended meanwhile
  }
}
