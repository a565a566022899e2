import { readOr } from "../machine/read-or.js";
import type { SandboxUsage } from "../sandbox.js";

/** What the members of these groups use together; a member is undefined where no group counts it. */
export function usageIn(groups: readonly string[]): SandboxUsage {
  const microseconds = keyed(groups, "cpu.stat", "usage_usec");
  const nanoseconds = numberIn(groups, "cpuacct.usage");
  const fallback = nanoseconds === undefined ? undefined : nanoseconds / 1e6;
  return {
    memoryBytes: numberIn(groups, "memory.current") ?? numberIn(groups, "memory.usage_in_bytes"),
    processes: numberIn(groups, "pids.current"),
    cpuMs: microseconds === undefined ? fallback : microseconds / 1e3,
  };
}

/** How often the kernel killed one of them for want of memory; undefined where no group counts it. */
export function memoryKillsIn(groups: readonly string[]): number | undefined {
  return keyed(groups, "memory.events", "oom_kill") ?? keyed(groups, "memory.oom_control", "oom_kill");
}

function numberIn(groups: readonly string[], file: string): number | undefined {
  for (const group of groups) {
    const text = readOr(`${group}/${file}`, "").trim();
    if (/^\d+$/.test(text)) return Number(text);
  }
  return undefined;
}

// Lines of the form `key 123`.
function keyed(groups: readonly string[], file: string, key: string): number | undefined {
  for (const group of groups) {
    const lines = readOr(`${group}/${file}`, "").split("\n");
    const value = lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1);
    if (value !== undefined && /^\d+$/.test(value)) return Number(value);
  }
  return undefined;
}
