import { existsSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ConfinementError } from "../errors.js";
import { readOr } from "../machine/read-or.js";
import type { SandboxUsage } from "../sandbox.js";
import { type Freezer, freezerIn } from "./freezer.js";
import { groupPath, tryRemoveGroup } from "./group-folder.js";
import { killMembers } from "./group-kill.js";
import { memoryKillsIn, usageIn } from "./group-usage.js";

/** The control groups of one sandbox. All calls answer from files that the kernel makes in memory. */
export interface ControlGroups {
  /** Absolute paths, one in each tree. */
  readonly paths: readonly string[];
  /** What the members use now, bubblewrap's own processes included. */
  usage(): SandboxUsage;
  /** How often the kernel killed a member for memory; undefined without a memory group. Read it before `end`. */
  memoryKills(): number | undefined;
  /** Undefined where none of them can hold its members still. */
  readonly freezer: Freezer | undefined;
  /** Whether a living process is in one of them. */
  isPopulated(): boolean;
  /**
   * Kills every member and removes the groups, which the kernel allows only when no member is left: true is the proof.
   * False when one was left after `timeoutMs`, such as a process that waits for a device.
   */
  end(options?: EndGroupsOptions): Promise<boolean>;
}

export interface EndGroupsOptions {
  /** 0 to 600_000 milliseconds. Default 5_000. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The groups at these paths, whoever made them. */
export function controlGroupsAt(paths: readonly string[]): ControlGroups {
  return {
    paths,
    usage: () => usageIn(paths),
    memoryKills: () => memoryKillsIn(paths),
    freezer: freezerIn(paths),
    isPopulated: () => paths.some(isPopulated),
    end: (options) => endGroups(paths, options ?? {}),
  };
}

/**
 * The groups that a record of an earlier process names.
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID` for a path that is no group of a sandbox of this name: a damaged record
 * must not get other people's processes killed.
 */
export function recordedControlGroups(paths: readonly string[], name: string): ControlGroups {
  const foreign = paths.find((path) => !isOurs(path, name));
  if (foreign === undefined) return controlGroupsAt(paths);
  const message = `${foreign} is no control group of a sandbox "${name}"`;
  throw new ConfinementError("SANDBOX_OPTION_INVALID", message, { field: "identity.controlGroups" });
}

function isOurs(path: string, name: string): boolean {
  if (!isAbsolute(path) || path !== groupPath(dirname(dirname(path)), name)) return false;
  // What is gone is fine; what is there must be a control group.
  return !existsSync(path) || existsSync(`${path}/cgroup.procs`);
}

// Version 2 tells it, and does not count zombies; version 1 lists members, of which zombies are none any more.
function isPopulated(group: string): boolean {
  const events = readOr(`${group}/cgroup.events`, undefined);
  if (events !== undefined) return events.includes("populated 1");
  return readOr(`${group}/cgroup.procs`, "").trim() !== "";
}

const firstPauseMs = 1;
const longestPauseMs = 50;

async function endGroups(paths: readonly string[], { timeoutMs = 5_000, signal }: EndGroupsOptions): Promise<boolean> {
  let waitedMs = 0;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const left = paths.filter((path) => !tryRemoveGroup(path));
    if (left.length === 0) return true;
    if (waitedMs >= timeoutMs) return false;
    freezerIn(left)?.thaw(); // its host was killed meanwhile, or looks at it: in version 1 nothing frozen dies
    for (const path of left) killMembers(path);
    await pause(pauseMs, signal);
    waitedMs += pauseMs;
  }
}

async function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await setTimeout(delayMs, undefined, { signal });
  } catch (cause) {
    signal?.throwIfAborted();
    throw cause;
  }
}
