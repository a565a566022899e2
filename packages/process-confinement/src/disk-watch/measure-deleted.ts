import { statSync } from "node:fs";
import { listOrNone, readOr } from "../machine/read-or.js";
import { type DeletedMapping, deletedMappings } from "./deleted-mappings.js";
import { inSlices, sliceEntries } from "./slices.js";
import { childrenOfThread, threadsOf } from "./threads.js";

/** Processes and descriptors that are looked at, together; the rest of a sandbox that has more is not seen. */
const maxLooks = 100_000;
/** What is read of the lists of mappings, together: about 600_000 of them. */
const maxMapsBytes = 64 * 2 ** 20;

/** By the number of the device (stat(2)); one that is not named has none. */
export type DeletedBytes = ReadonlyMap<number, number>;

/**
 * Bytes of files that have no name any more but are open or mapped in a process of the sandbox: no walk finds them, and they fill
 * the disk all the same. Undefined when there is too much to look at. What runs meanwhile can be missed.
 * @param init Process 1 of the sandbox, as this machine numbers it.
 */
export function measureDeleted(init: number, signal?: AbortSignal): Promise<DeletedBytes | undefined> {
  return inSlices(countDeleted(init), signal);
}

/** Bytes of each file, by inode. */
interface Deleted {
  readonly known: Map<number, number>;
  /** Of those that may not be looked at: up to the last byte that is mapped. */
  readonly mapped: Map<number, number>;
}
type DeletedByDevice = Map<number, Deleted>;

function* countDeleted(init: number): Generator<void, DeletedBytes | undefined> {
  const deleted: DeletedByDevice = new Map();
  const processes = [init];
  let looks = 0;
  let mapsBytes = 0;
  for (let pid = processes.pop(); pid !== undefined; pid = processes.pop()) {
    const threads = threadsOf(pid);
    for (const thread of threads) processes.push(...childrenOfThread(pid, thread));
    // Of the first thread, once it has ended, nothing is shown. The others are not listed, but are there under their own numbers.
    const folder = `/proc/${threads.find(isAlive) ?? pid}`;
    for (const descriptor of listOrNone(`${folder}/fd`)) {
      if (++looks > maxLooks) return undefined;
      if (looks % sliceEntries === 0) yield;
      noteDescriptor(`${folder}/fd/${descriptor}`, deleted);
    }
    for (const { bytes, mappings } of deletedMappings(`${folder}/maps`)) {
      mapsBytes += bytes;
      if (mapsBytes > maxMapsBytes) return undefined;
      for (const mapping of mappings) noteMapping(`${folder}/map_files`, mapping, deleted);
      yield;
    }
    if (++looks > maxLooks) return undefined;
  }
  return new Map([...deleted].map(([device, files]) => [device, sumOf(files)]));
}

function sumOf({ known, mapped }: Deleted): number {
  for (const inode of known.keys()) mapped.delete(inode);
  return [...known.values(), ...mapped.values()].reduce((sum, bytes) => sum + bytes, 0);
}

function on(device: number, deleted: DeletedByDevice): Deleted {
  const files = deleted.get(device) ?? { known: new Map(), mapped: new Map() };
  deleted.set(device, files);
  return files;
}

// Only stat, never open: what is behind a descriptor of an attacker may be a pipe that blocks.
function noteDescriptor(descriptor: string, deleted: DeletedByDevice): void {
  try {
    const stat = statSync(descriptor, { throwIfNoEntry: false });
    if (stat?.isFile() && stat.nlink === 0) on(stat.dev, deleted).known.set(stat.ino, stat.blocks * 512);
  } catch {
    // closed meanwhile, or hidden from us
  }
}

function noteMapping(
  folder: string,
  { range, device, inode, endBytes }: DeletedMapping,
  deleted: DeletedByDevice,
): void {
  try {
    const stat = statSync(`${folder}/${range}`, { throwIfNoEntry: false });
    if (stat?.nlink === 0) on(stat.dev, deleted).known.set(stat.ino, stat.blocks * 512);
  } catch {
    // These links are for root alone (proc(5), /proc/pid/map_files).
    const { mapped } = on(device, deleted);
    mapped.set(inode, Math.max(endBytes, mapped.get(inode) ?? 0));
  }
}

function isAlive(thread: string): boolean {
  return !/\) [ZX] /.test(readOr(`/proc/${thread}/stat`, ") X "));
}
