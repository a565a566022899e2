import { readdirSync } from "node:fs";
import { startTimeOf, tryRead } from "../process-identity.js";

/** The variable by which processes of an unconfined environment are found again. They can take it off: nothing holds them. */
export const markVariable = "BERTH_ENVIRONMENT";

/** Numbers of the living processes whose environment carries the mark. Undefined where there is no /proc to tell. */
export function findMarked(mark: string): readonly number[] | undefined {
  return findProcesses((pid) => carries(pid, mark) && startTimeOf(pid) !== undefined);
}

/**
 * Numbers of the processes that see a file of this worker's folder mounted: the last proof that nothing of it runs, also where
 * no identity was written down. The name is random, so nothing else has it in its mounts. Undefined when /proc cannot be read.
 */
export function findMounted(workerName: string): readonly number[] | undefined {
  // Nothing is seen of one that has ended, or that belongs to another user and so cannot be ours.
  return findProcesses((pid) => tryRead(`/proc/${pid}/mountinfo`)?.includes(`/${workerName}/`) === true);
}

function findProcesses(fits: (pid: number) => boolean): readonly number[] | undefined {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter(fits);
  } catch {
    return undefined;
  }
}

function carries(pid: number, mark: string): boolean {
  return `\0${tryRead(`/proc/${pid}/environ`) ?? ""}`.includes(`\0${markVariable}=${mark}\0`);
}
