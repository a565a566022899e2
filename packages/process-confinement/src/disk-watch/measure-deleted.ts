import { statSync } from "node:fs";
import { listOrNone, readOr } from "../machine/read-or.js";
import { inSlices, sliceEntries } from "./slices.js";

/** Processes and descriptors that are looked at, together; the rest of a sandbox that has more is not seen. */
const maxLooks = 100_000;

/**
 * Bytes of files on this device that have no name any more but are open in a process of the sandbox: no walk finds them, and
 * they fill the disk all the same. Undefined when there is too much to look at.
 * @param init Process 1 of the sandbox, as this machine numbers it.
 */
export function measureDeleted(init: number, device: number, signal?: AbortSignal): Promise<number | undefined> {
  return inSlices(countDeleted(init, device), signal);
}

function* countDeleted(init: number, device: number): Generator<void, number | undefined> {
  const files = new Map<number, number>();
  const processes = [init];
  let looks = 0;
  for (let pid = processes.pop(); pid !== undefined; pid = processes.pop()) {
    processes.push(...childrenOf(pid));
    for (const descriptor of listOrNone(`/proc/${pid}/fd`)) {
      if (++looks > maxLooks) return undefined;
      if (looks % sliceEntries === 0) yield;
      noteDeleted(`/proc/${pid}/fd/${descriptor}`, device, files);
    }
    if (++looks > maxLooks) return undefined;
  }
  return [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
}

// Only stat, never open: what is behind a descriptor of an attacker may be a pipe that blocks.
function noteDeleted(descriptor: string, device: number, files: Map<number, number>): void {
  try {
    const stat = statSync(descriptor, { throwIfNoEntry: false });
    if (stat?.isFile() && stat.nlink === 0 && stat.dev === device) files.set(stat.ino, stat.blocks * 512);
  } catch {
    // closed meanwhile, or hidden from us
  }
}

function childrenOf(pid: number): readonly number[] {
  const files = listOrNone(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}/children`);
  return files.flatMap((file) => readOr(file, "").split(" ").filter(Boolean).map(Number));
}
