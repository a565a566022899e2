import { hostname } from "node:os";
import { bootId, pidNamespace, startTimeOf } from "../process-identity.js";

/** The process that writes a store, as it names itself in it. Members are null where the platform does not say. */
export interface StoreOwner {
  readonly pid: number;
  /** Clock ticks since boot at which the process started. */
  readonly startTime: string | null;
  readonly bootId: string | null;
  /** Within which `pid` means something. */
  readonly pidNamespace: string | null;
  readonly host: string;
  /** When it opened the store: wall clock, milliseconds since 1970. */
  readonly since: number;
}

/** This process. */
export function ownIdentity(since: number): StoreOwner {
  return {
    pid: process.pid,
    startTime: startTimeOf(process.pid) ?? null,
    bootId: bootId() ?? null,
    pidNamespace: pidNamespace() ?? null,
    host: hostname(),
    since,
  };
}

/** For a message; a record of a process that is surely gone names nobody. */
export function describeOwner(owner: StoreOwner | undefined): string {
  if (owner === undefined || isGone(owner)) return "by a process that has not yet said who it is";
  // A host's name may hold anything, and operators read this on a terminal.
  const host = owner.host.slice(0, 100).replaceAll(/[^ -~]/gu, "?");
  return `by process ${owner.pid} on ${host} since ${new Date(owner.since).toISOString()}`;
}

/** Only for the words of a message: the lock itself is the kernel's, and no record decides about it. */
function isGone(owner: StoreOwner): boolean {
  const self = ownIdentity(0);
  if (owner.bootId !== self.bootId || owner.pidNamespace !== self.pidNamespace) return false;
  const started = startTimeOf(owner.pid);
  return self.startTime !== null && owner.startTime !== null && started !== owner.startTime;
}
