import { type Scheduler, systemScheduler } from "@berth/environment-leases";
import { SessionError } from "./errors.js";
import { readSessionTerms, type SessionTerms } from "./session-terms.js";
import type { SessionsOptions } from "./sessions.js";

/** SessionsOptions, checked. */
export interface SetTerms {
  readonly terms: SessionTerms;
  readonly scheduler: Scheduler;
  readonly ttlMs: number;
  readonly idleMs: number;
  readonly expectedProfiles: readonly string[];
  profileOf(owner: string): string;
  /** @throws {SessionError} `OPTION_INVALID`. */
  checkOwner(owner: string): void;
}

const members = [
  "leases",
  "profile",
  "record",
  "onFault",
  "limits",
  "ttlMs",
  "idleMs",
  "expectedOwners",
  "now",
  "scheduler",
  "randomBytes",
] as const satisfies readonly (keyof SessionsOptions)[];
const isMember = (name: string): boolean => members.some((member) => member === name);

/** @throws {SessionError} `OPTION_INVALID`. */
export function readSetOptions(options: SessionsOptions): SetTerms {
  for (const name of Object.keys(options)) {
    if (!isMember(name)) throw new SessionError("OPTION_INVALID", `${name} is no option of createSessions`);
  }
  const { profile, expectedOwners = [] } = options;
  const profileOf = typeof profile === "string" ? () => profile : profile;
  const expected = typeof profile === "string" ? [profile] : expectedOwners.map(profileOf);
  return {
    terms: readSessionTerms(options.limits),
    scheduler: options.scheduler ?? systemScheduler,
    ttlMs: options.ttlMs ?? 86_400_000,
    idleMs: options.idleMs ?? 3_600_000,
    expectedProfiles: [...new Set(expected)],
    profileOf,
    checkOwner(owner) {
      if (owner.length >= 1 && owner.length <= 200) return;
      throw new SessionError("OPTION_INVALID", `an owner of ${owner.length} characters; it has 1 to 200`);
    },
  };
}
