import { statSync } from "node:fs";
import { listOrNone, readOr } from "../machine/read-or.js";
import { type DeletedMapping, deletedMappings } from "./deleted-mappings.js";
import { inSlices, sliceEntries } from "./slices.js";

/** Processes and descriptors that are looked at, together; the rest of a sandbox that has more is not seen. */
const maxLooks = 100_000;
/** What is read of the lists of mappings, together: about 600_000 of them. */
const maxMapsBytes = 64 * 2 ** 20;

/**
 * Bytes of files on this device that have no name any more but are open or mapped in a process of the sandbox: no walk finds them,
 * and they fill the disk all the same. Undefined when there is too much to look at.
 * @param init Process 1 of the sandbox, as this machine numbers it.
 */
export function measureDeleted(init: number, device: number, signal?: AbortSignal): Promise<number | undefined> {
  return inSlices(countDeleted(init, device), signal);
}

/** Bytes by inode. */
interface Deleted {
  readonly device: number;
  readonly known: Map<number, number>;
  /** Of those that may not be looked at: up to the last byte that is mapped. */
  readonly mapped: Map<number, number>;
}

function* countDeleted(init: number, device: number): Generator<void, number | undefined> {
  const deleted: Deleted = { device, known: new Map(), mapped: new Map() };
  const processes = [init];
  let looks = 0;
  let mapsBytes = 0;
  for (let pid = processes.pop(); pid !== undefined; pid = processes.pop()) {
    const threads = listOrNone(`/proc/${pid}/task`);
    processes.push(...threads.flatMap((thread) => childrenOf(`/proc/${pid}/task/${thread}`)));
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
  for (const inode of deleted.known.keys()) deleted.mapped.delete(inode);
  return [...deleted.known.values(), ...deleted.mapped.values()].reduce((sum, bytes) => sum + bytes, 0);
}

// Only stat, never open: what is behind a descriptor of an attacker may be a pipe that blocks.
function noteDescriptor(descriptor: string, { device, known }: Deleted): void {
  try {
    const stat = statSync(descriptor, { throwIfNoEntry: false });
    if (stat?.isFile() && stat.nlink === 0 && stat.dev === device) known.set(stat.ino, stat.blocks * 512);
  } catch {
    // closed meanwhile, or hidden from us
  }
}

function noteMapping(folder: string, { range, device, inode, endBytes }: DeletedMapping, deleted: Deleted): void {
  try {
    const stat = statSync(`${folder}/${range}`, { throwIfNoEntry: false });
    if (stat?.nlink === 0 && stat.dev === deleted.device) deleted.known.set(stat.ino, stat.blocks * 512);
  } catch {
    // These links are for root alone (proc(5), /proc/pid/map_files).
    if (device === deleted.device) deleted.mapped.set(inode, Math.max(endBytes, deleted.mapped.get(inode) ?? 0));
  }
}

function isAlive(thread: string): boolean {
  return !/\) [ZX] /.test(readOr(`/proc/${thread}/stat`, ") X "));
}

function childrenOf(task: string): readonly number[] {
  return readOr(`${task}/children`, "").split(" ").filter(Boolean).map(Number);
}
