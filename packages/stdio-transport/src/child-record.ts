import type { HostSystem } from "./host-system.js";
import { type ProcessWorld, readStat, readWorld } from "./process-identity.js";

/** One process, for ever: together with boot and pid namespace no other has both. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

/** Who a child is, so that it can be ended by somebody else, or later. */
export interface ChildRecord {
  readonly format: 1;
  /** What was started, for people. */
  readonly file: string;
  readonly world: ProcessWorld;
  /** The process that called `openChild`. */
  readonly host: ProcessIdentity;
  /** The number of the child's session, which is that of its launcher. */
  readonly session: number;
  readonly command: number;
  /** Launcher, supervisor and command, as far as they could be seen. */
  readonly processes: readonly ProcessIdentity[];
}

/** Undefined where there is no /proc to tell. Call before `go`: then none of the numbers can have changed hands. */
export function describeChild(
  file: string,
  host: HostSystem,
  numbers: { readonly launcher: number; readonly supervisor: number; readonly command: number },
): ChildRecord | undefined {
  const world = readWorld();
  const self = identify(host.pid);
  if (world === undefined || self === undefined) return undefined;
  const { launcher, supervisor, command } = numbers;
  const processes = [...new Set([launcher, supervisor, command])].map(identify).filter((one) => one !== undefined);
  return { format: 1, file, world, host: self, session: launcher, command, processes };
}

function identify(pid: number): ProcessIdentity | undefined {
  const stat = readStat(pid);
  return stat && { pid, startTime: stat.startTime };
}
