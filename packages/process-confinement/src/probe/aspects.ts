import type { ConfinementLimits } from "../policy.js";
import { limitNames } from "../reading/read-limits.js";

/** What the attempts in one sandbox show, single limits apart. */
const attemptAspects = [
  "user-namespace",
  "pid-namespace",
  "net-namespace",
  "ipc-namespace",
  "uts-namespace",
  "cgroup-namespace",
  "secret",
  "network",
  "abstract-socket",
  "own-write",
  "read-only",
  "seccomp",
  "privileges",
];

/** What a sandbox shows whose host is killed. */
export const hostDeathAspects: readonly string[] = ["descriptors", "host-death"];

/** What everything rests on: without one of these no sandbox is usable. */
export const baseAspects: readonly string[] = ["bubblewrap", ...attemptAspects, ...hostDeathAspects];

/** Single limits; one that does not hold is refused when it is asked for, and the rest goes on. */
export const limitAspects: readonly (keyof ConfinementLimits)[] = limitNames;
