import { readdirSync, readFileSync } from "node:fs";

/**
 * Numbers of the processes that see a file of this worker's folder mounted: the last proof that nothing of it runs, also where
 * no identity was written down. The name is random, so nothing else has it in its mounts. Undefined when /proc cannot be read.
 */
export function findMounted(workerName: string): readonly number[] | undefined {
  try {
    return readdirSync("/proc")
      .filter((entry) => /^\d+$/.test(entry))
      .map(Number)
      .filter((pid) => sees(pid, workerName));
  } catch {
    return undefined;
  }
}

function sees(pid: number, workerName: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, "latin1").includes(`/${workerName}/`);
  } catch {
    return false; // it ended, or belongs to another user and so cannot be ours
  }
}
