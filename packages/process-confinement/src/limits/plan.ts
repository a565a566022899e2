import { ConfinementError } from "../errors.js";
import type { ConfinementLimits } from "../policy.js";
import type { LimitEnforcement } from "../sandbox.js";
import { type Controller, findPlaces, type GroupPlace } from "./group-place.js";
import { type GroupWrite, groupWrites } from "./group-writes.js";
import { readHierarchies } from "./hierarchies.js";
import { type LimitsHost, thisLimitsHost } from "./limits-host.js";
import { isWholeBlocks, type Rlimits, readCeilings } from "./rlimits.js";
import { type Refusal, whyNotHeld } from "./why-not.js";

/** A control group to be made for one sandbox. */
export interface GroupRequest {
  readonly version: 1 | 2;
  /** The group that ours are made in, under `berth`. */
  readonly parent: string;
  /** What version 2 must give on to it; of version 1 every group has it. */
  readonly controllers: readonly Controller[];
  readonly writes: readonly GroupWrite[];
}

/** How the limits of one sandbox are held here. Nothing has been made yet. */
export interface LimitPlan {
  readonly enforced: readonly LimitEnforcement[];
  readonly groups: readonly GroupRequest[];
  /** Set before bubblewrap starts, by `joinLine`. */
  readonly outside: Rlimits;
  /** Set by the first process inside, by `innerPrefix`. */
  readonly inside: Rlimits;
  /** The program that sets a file size which a shell cannot say; undefined when none is asked for. */
  readonly prlimit: string | undefined;
}

/** Our own processes, which run beside the command and are not to count against `processes`. */
export interface OwnProcesses {
  /** Outside of the user namespace: the outer bubblewrap. Default 1. */
  readonly outside?: number | undefined;
  /** Inside: process 1 of the namespace unless the command is it, a forwarder. Default 1. */
  readonly inside?: number | undefined;
}

/** Which controller holds a limit, for those that a control group can hold. */
const controllerOf = { memoryBytes: "memory", processes: "pids", cpus: "cpu" } as const satisfies Partial<
  Record<keyof ConfinementLimits, Controller>
>;

type GroupLimit = keyof typeof controllerOf;
const groupLimits: readonly GroupLimit[] = ["memoryBytes", "processes", "cpus"];
const processLimits = ["cpuSeconds", "fileBytes", "openFiles"] as const;

/**
 * Decides which mechanism of this machine holds each limit that is named; values are taken as checked.
 * @param watchesFolders A group that can be held still is wanted, where there is one to be had.
 * @throws {ConfinementError} `LIMIT_NOT_ENFORCEABLE` for the first that nothing holds here, with the field, the cause and the cure.
 */
export function planLimits(
  limits: ConfinementLimits,
  own: OwnProcesses = {},
  host: LimitsHost = thisLimitsHost(),
  watchesFolders: boolean = limits.diskBytes !== undefined,
): LimitPlan {
  const counted = { outside: own.outside ?? 1, inside: own.inside ?? 1 };
  const asked = groupLimits.filter((limit) => limits[limit] !== undefined);
  const hierarchies = readHierarchies(host);
  const wanted = asked.map((limit) => controllerOf[limit]);
  const places = findPlaces(hierarchies, wanted);
  const freezer = watchesFolders ? findFreezer(places) : undefined;
  const held = asked.filter((limit) => placeFor(limit, places) !== undefined);
  const byRlimit = asked.filter((limit) => !held.includes(limit) && bindsAsRlimit(limit, host));
  const refused = asked.find((limit) => !held.includes(limit) && !byRlimit.includes(limit));
  if (refused !== undefined) throw refusal(refused, whyNotHeld(controllerOf[refused], hierarchies, host));
  return {
    enforced: [
      ...held.map((limit) =>
        enforcement(limits, limit, placeFor(limit, places)?.version === 2 ? "cgroup-v2" : "cgroup-v1"),
      ),
      ...[...byRlimit, ...processLimits].map((limit) => enforcement(limits, limit, "rlimit")),
      enforcement(limits, "diskBytes", freezer === undefined ? "watched" : "watched-frozen"),
      enforcement(limits, "outputBytes", "watched"),
    ].flat(),
    groups: places.flatMap((place) => {
      const here = held.filter((limit) => placeFor(limit, places) === place);
      // None where it would hold nothing: process 1 of the sandbox takes all with it anyway, and entering a group takes time.
      if (here.length === 0 && place !== freezer) return [];
      return [requestFor(place, limits, here, counted.outside + counted.inside)];
    }),
    ...splitRlimits(lowered(limits, readCeilings(host.ownLimits)), byRlimit.length > 0, counted.inside),
    prlimit: prlimitFor(limits.fileBytes, host),
  };
}

/** What bubblewrap itself needs: the files that it writes for the sandbox, and its descriptors. */
const leastOutside = { fileBytes: 2 ** 16, openFiles: 64 } as const;

function splitRlimits(
  rlimits: Rlimits,
  countsProcesses: boolean,
  ownInside: number,
): Pick<LimitPlan, "outside" | "inside"> {
  const { cpuSeconds, fileBytes, openFiles, processes } = rlimits;
  const small = {
    fileBytes: (fileBytes ?? leastOutside.fileBytes) < leastOutside.fileBytes,
    openFiles: (openFiles ?? leastOutside.openFiles) < leastOutside.openFiles,
  };
  return {
    outside: {
      cpuSeconds,
      fileBytes: small.fileBytes ? undefined : fileBytes,
      openFiles: small.openFiles ? undefined : openFiles,
    },
    inside: {
      fileBytes: small.fileBytes ? fileBytes : undefined,
      openFiles: small.openFiles ? openFiles : undefined,
      // RLIMIT_NPROC counts a user namespace for itself when it is set inside of it (Linux 5.14), else all of the user.
      processes: countsProcesses && processes !== undefined ? processes + ownInside : undefined,
    },
  };
}

// RLIMIT_NPROC does nothing for uid 0, also inside a user namespace that root made (kernel/fork.c, copy_process).
function bindsAsRlimit(limit: GroupLimit, { uid }: LimitsHost): boolean {
  return limit === "processes" && uid > 0;
}

function placeFor(limit: GroupLimit, places: readonly GroupPlace[]): GroupPlace | undefined {
  return places.find((place) => place.controllers.includes(controllerOf[limit]));
}

function enforcement(
  limits: ConfinementLimits,
  limit: keyof ConfinementLimits,
  by: LimitEnforcement["by"],
): readonly LimitEnforcement[] {
  const value = limits[limit];
  return value === undefined ? [] : [{ limit, value, by }];
}

// Version 2 first: there, what is frozen can be killed.
function findFreezer(places: readonly GroupPlace[]): GroupPlace | undefined {
  return places.find(({ version }) => version === 2) ?? places.find(({ freezes }) => freezes);
}

function requestFor(
  { version, parent }: GroupPlace,
  limits: ConfinementLimits,
  here: readonly GroupLimit[],
  ownProcesses: number,
): GroupRequest {
  const asked = Object.fromEntries(here.map((limit) => [limit, limits[limit]]));
  const writes = groupWrites(version, ownProcesses, asked);
  return { version, parent, controllers: here.map((limit) => controllerOf[limit]), writes };
}

function prlimitFor(fileBytes: number | undefined, host: LimitsHost): string | undefined {
  if (fileBytes === undefined || isWholeBlocks(fileBytes)) return undefined;
  const prlimit = host.findTool("prlimit");
  if (prlimit !== undefined) return prlimit;
  const cause = `${fileBytes} bytes are not whole blocks of 512, and there is no prlimit to set them`;
  throw refusal("fileBytes", { cause, cure: "install util-linux, or give a multiple of 512" });
}

// What is above our own hard limit cannot be set, and need not be: ours holds.
function lowered(limits: ConfinementLimits, ceilings: Rlimits): Rlimits {
  return Object.fromEntries(
    [...processLimits, "processes" as const].flatMap((limit) => {
      const value = limits[limit];
      return value === undefined ? [] : [[limit, Math.min(value, ceilings[limit] ?? value)]];
    }),
  );
}

function refusal(limit: keyof ConfinementLimits, { cause, cure }: Refusal): ConfinementError {
  const field = `limits.${limit}`;
  return new ConfinementError("LIMIT_NOT_ENFORCEABLE", `${field} cannot be held on this machine: ${cause}`, {
    field,
    cure,
  });
}
