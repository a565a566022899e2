import { randomBytes } from "node:crypto";
import type { FieldFault } from "../errors.js";
import type { LeaseLimits, LeasesOptions } from "../leases-contract.js";
import { bootId, startTimeOf } from "../process-identity.js";
import { readMembers } from "../reading/members.js";
import { refuseFaults } from "../reading/refuse.js";
import { type Scheduler, systemScheduler } from "../scheduler.js";
import type { LeaseStore } from "../store.js";
import { checkedStore } from "./checked-store.js";

/** LeaseLimits with defaults filled in. */
export type LimitTerms = { readonly [Name in keyof LeaseLimits]-?: number };

const ranges = {
  maxPerOwner: { min: 1, max: 1_024, preset: 5 },
  maxTotal: { min: 1, max: 4_096, preset: 64 },
  defaultTtlMs: { min: 1_000, max: 86_400_000, preset: 900_000 },
  maxLifetimeMs: { min: 1_000, max: 2_592_000_000, preset: 86_400_000 },
  maxQueued: { min: 1, max: 1_024, preset: 32 },
  maxOpened: { min: 1, max: 1_024, preset: 64 },
  sweepMs: { min: 100, max: 3_600_000, preset: 30_000 },
  graceMs: { min: 0, max: 600_000, preset: 5_000 },
  createMs: { min: 100, max: 600_000, preset: 60_000 },
  destroyMs: { min: 100, max: 600_000, preset: 30_000 },
  retentionMs: { min: 0, max: 31_536_000_000, preset: 604_800_000 },
  closeMs: { min: 0, max: 600_000, preset: 30_000 },
} as const satisfies Record<keyof LeaseLimits, { min: number; max: number; preset: number }>;

/** What a set of leases works with. */
export interface LeasesTerms {
  readonly store: LeaseStore;
  readonly limits: LimitTerms;
  readonly host: string;
  readonly now: () => number;
  readonly scheduler: Scheduler;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly onFault: (fault: unknown) => void;
  readonly record: LeasesOptions["record"];
  readonly onRecovery: "destroy" | "attach";
}

const optionNames = [
  "store",
  "providers",
  "profiles",
  "record",
  "onFault",
  "limits",
  "host",
  "now",
  "scheduler",
  "randomBytes",
  "onRecovery",
  "allowUnconfined",
] as const satisfies readonly (keyof LeasesOptions)[];

/** @throws {LeaseError} `OPTION_INVALID` */
export function readLeasesOptions(options: LeasesOptions): LeasesTerms {
  const faults: FieldFault[] = [];
  const given = readMembers(options, "", optionNames, faults);
  const host = given?.text("host", { max: 200 });
  given?.choice("onRecovery", ["destroy", "attach"]);
  given?.flag("allowUnconfined");
  const limits = readLimits(options.limits ?? {}, faults);
  refuseFaults("OPTION_INVALID", "the options cannot be used", faults);
  return {
    store: checkedStore(options.store),
    limits,
    host: host ?? ownHost(),
    now: options.now ?? Date.now,
    scheduler: options.scheduler ?? systemScheduler,
    randomBytes: options.randomBytes ?? randomBytes,
    onFault: quiet(options.onFault),
    record: options.record,
    onRecovery: options.onRecovery ?? "destroy",
  };
}

function readLimits(limits: unknown, faults: FieldFault[]): LimitTerms {
  const given = readMembers(limits, "limits", Object.keys(ranges), faults);
  const read = (name: keyof typeof ranges): number => given?.whole(name, ranges[name]) ?? ranges[name].preset;
  const maxLifetimeMs = read("maxLifetimeMs");
  const defaultTtlMs = read("defaultTtlMs");
  if (defaultTtlMs > maxLifetimeMs && given?.has("defaultTtlMs") === true) {
    given.fault("defaultTtlMs", `has to be at most maxLifetimeMs, ${maxLifetimeMs}, was ${defaultTtlMs}`);
  }
  return {
    maxPerOwner: read("maxPerOwner"),
    maxTotal: read("maxTotal"),
    defaultTtlMs: Math.min(defaultTtlMs, maxLifetimeMs),
    maxLifetimeMs,
    maxQueued: read("maxQueued"),
    maxOpened: read("maxOpened"),
    sweepMs: read("sweepMs"),
    graceMs: read("graceMs"),
    createMs: read("createMs"),
    destroyMs: read("destroyMs"),
    retentionMs: read("retentionMs"),
    closeMs: read("closeMs"),
  };
}

/** A monitor that throws must not change what becomes of a lease. */
function quiet(onFault: LeasesOptions["onFault"]): (fault: unknown) => void {
  return (fault) => {
    try {
      onFault?.(fault);
    } catch {
      // Nobody is left to tell.
    }
  };
}

/** This process among all that this machine ever ran: pid, start time in clock ticks, boot id. */
function ownHost(): string {
  return `${process.pid}:${startTimeOf(process.pid) ?? "unknown"}:${bootId() ?? "unknown"}`;
}
