import { readdirSync, readFileSync } from "node:fs";

/** The variable by which processes of an unconfined environment are found again. They can take it off: nothing holds them. */
export const markVariable = "BERTH_ENVIRONMENT";

/** Field 22 of /proc/PID/stat, in ticks since boot; undefined when there is no such living process. */
export function startTimeOf(pid: number): string | undefined {
  const text = readOr(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything, so what counts comes after the last one.
  const [state, ...fields] = text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? [];
  return state === undefined || state === "Z" || state === "X" ? undefined : fields[18];
}

/** Numbers of the living processes whose environment carries the mark. Undefined where there is no /proc to tell. */
export function findMarked(mark: string): readonly number[] | undefined {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => carries(pid, mark) && startTimeOf(pid) !== undefined);
  } catch {
    return undefined;
  }
}

export function bootId(): string | undefined {
  return readOr("/proc/sys/kernel/random/boot_id")?.trim();
}

function carries(pid: number, mark: string): boolean {
  return `\0${readOr(`/proc/${pid}/environ`) ?? ""}`.includes(`\0${markVariable}=${mark}\0`);
}

function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined; // gone, or not ours to see
  }
}
