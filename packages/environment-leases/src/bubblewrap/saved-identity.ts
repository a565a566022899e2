import type { SandboxIdentity } from "@berth/process-confinement";

/** Reads an identity that an earlier process wrote down; undefined when it is none. */
export function readIdentity(value: unknown): SandboxIdentity | undefined {
  if (!isMembers(value)) return undefined;
  const { name, bootId, pidNamespace, hostPidNamespace, controlGroups } = value;
  const outer = readMark(value["outer"]);
  const init = readMark(value["init"]);
  if (typeof name !== "string" || typeof bootId !== "string") return undefined;
  if (typeof pidNamespace !== "number" || typeof hostPidNamespace !== "number") return undefined;
  if (outer === undefined || init === undefined || !isPaths(controlGroups)) return undefined;
  return { ...value, name, bootId, outer, init, pidNamespace, hostPidNamespace, controlGroups };
}

function readMark(value: unknown): { readonly pid: number; readonly startTime: number } | undefined {
  if (!isMembers(value)) return undefined;
  const { pid, startTime } = value;
  return typeof pid === "number" && typeof startTime === "number" ? { pid, startTime } : undefined;
}

function isPaths(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((path) => typeof path === "string" && path.startsWith("/"));
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
