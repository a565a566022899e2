import type { ConfinementLimits } from "../policy.js";

/** One value for a file of a control group. */
export interface GroupWrite {
  readonly file: string;
  readonly value: string;
  /** The file is absent where the kernel does not account for swap. */
  readonly optional: boolean;
}

/** The length of time in which a share of the processors is counted, in microseconds: the kernel's own default. */
const periodUs = 100_000;

type Held = Pick<ConfinementLimits, "memoryBytes" | "processes" | "cpus">;

/** What to write so that the kernel holds these limits (cgroup-v2.rst; cgroup-v1/memory.rst, pids.rst; sched-bwc.rst). */
export function groupWrites(version: 1 | 2, ownProcesses: number, held: Held): readonly GroupWrite[] {
  const { memoryBytes, processes, cpus } = held;
  const forMemory = version === 2 ? memoryOfTwo : memoryOfOne;
  return [
    ...(memoryBytes === undefined ? [] : forMemory(String(memoryBytes))),
    ...(processes === undefined ? [] : [must("pids.max", String(processes + ownProcesses))]),
    ...(cpus === undefined ? [] : processorTime(version, Math.round(cpus * periodUs))),
  ];
}

// No swap: what is written out would not count, and the sandbox would hold more than it was given.
function memoryOfTwo(bytes: string): readonly GroupWrite[] {
  return [must("memory.max", bytes), may("memory.swap.max", "0")];
}

// The order matters: memory and swap together may not be less than memory.
function memoryOfOne(bytes: string): readonly GroupWrite[] {
  return [
    must("memory.limit_in_bytes", bytes),
    may("memory.memsw.limit_in_bytes", bytes),
    may("memory.swappiness", "0"),
  ];
}

function processorTime(version: 1 | 2, quotaUs: number): readonly GroupWrite[] {
  if (version === 2) return [must("cpu.max", `${quotaUs} ${periodUs}`)];
  return [must("cpu.cfs_period_us", String(periodUs)), must("cpu.cfs_quota_us", String(quotaUs))];
}

const must = (file: string, value: string): GroupWrite => ({ file, value, optional: false });
const may = (file: string, value: string): GroupWrite => ({ file, value, optional: true });
