import { existsSync, writeFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { readOr } from "../machine/read-or.js";
import { becomesTrue } from "../waits/within.js";

/** Holds all processes of a sandbox still (cgroup-v2.rst, cgroup.freeze; cgroup-v1/freezer-subsystem.rst). */
export interface Freezer {
  /**
   * Whether all stand still within the time. One that is in the kernel, such as in a long write, does so when it comes back;
   * the others do meanwhile. In any case to be followed by `thaw`.
   * @throws When there is no group any more. Also the signal's reason.
   */
  freeze(timeoutMs: number, signal: AbortSignal): Promise<boolean>;
  /** Does nothing when there is no group any more. */
  thaw(): void;
  /**
   * In version 1 what is frozen does not even die: whoever is left when the host was killed writes `THAWED` to this file.
   * Undefined in version 2.
   */
  readonly thawFile: string | undefined;
}

/** The one of a sandbox's groups that can; in version 2 every one. */
export function freezerIn(groups: readonly string[]): Freezer | undefined {
  const two = groups.find((group) => existsSync(`${group}/cgroup.freeze`));
  if (two !== undefined) return createFreezer(two, versionTwo);
  const one = groups.find((group) => existsSync(`${group}/freezer.state`));
  return one === undefined ? undefined : createFreezer(one, versionOne);
}

interface FreezerFiles {
  readonly file: string;
  readonly frozen: string;
  readonly thawed: string;
  /** Where it is told that all stand still, and how. */
  readonly told: { readonly file: string; readonly by: string };
  readonly diesFrozen: boolean;
}

const versionTwo: FreezerFiles = {
  file: "cgroup.freeze",
  frozen: "1",
  thawed: "0",
  told: { file: "cgroup.events", by: "frozen 1" },
  diesFrozen: true,
};
const versionOne: FreezerFiles = {
  file: "freezer.state",
  frozen: "FROZEN",
  thawed: "THAWED",
  told: { file: "freezer.state", by: "FROZEN" },
  diesFrozen: false,
};

function createFreezer(group: string, { file, frozen, thawed, told, diesFrozen }: FreezerFiles): Freezer {
  const path = `${group}/${file}`;
  const standsStill = (): boolean => readOr(`${group}/${told.file}`, "").includes(told.by);
  return {
    freeze: async (timeoutMs, signal) => {
      writeFileSync(path, frozen, { flag: "r+" });
      return (await soon(standsStill)) || becomesTrue(standsStill, timeoutMs, signal);
    },
    thaw: () => {
      try {
        writeFileSync(path, thawed, { flag: "r+" });
      } catch {
        // the group is gone, and with it whoever stood still
      }
    },
    thawFile: diesFrozen ? undefined : path,
  };
}

/** Processes that wait or compute stand still before the shortest timer would ring. */
const soonMs = 1;

async function soon(isTrue: () => boolean): Promise<boolean> {
  const end = performance.now() + soonMs;
  while (!isTrue()) {
    if (performance.now() >= end) return false;
    await setImmediate();
  }
  return true;
}
