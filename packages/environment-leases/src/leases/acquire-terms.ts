import type { FieldFault } from "../errors.js";
import type { AcquireOptions, WarmOptions } from "../lease-handle.js";
import { type Members, readMembers } from "../reading/members.js";
import { refuseFaults } from "../reading/refuse.js";
import type { LimitTerms } from "./terms.js";

/** What an owner asked for, with defaults filled in. */
export interface OwnerTerms {
  readonly owner: string;
  readonly ttlMs: number;
  readonly idleMs: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
}

const minMs = 1_000;
const maxIdleMs = 86_400_000;
const maxLabelBytes = 4_096;
const maxOwner = 200;
const maxProfileName = 200;

/** @throws {LeaseError} `OPTION_INVALID` */
export function readAcquire(options: AcquireOptions, limits: LimitTerms): OwnerTerms & { readonly profile: string } {
  const faults: FieldFault[] = [];
  const given = readMembers(options, "", ["owner", "profile", "ttlMs", "idleMs", "labels", "signal"], faults);
  needText(given, "profile", maxProfileName);
  const terms = readOwner(given, options.signal, limits);
  refuseFaults("OPTION_INVALID", "a lease cannot be acquired so", faults);
  return { ...terms, profile: options.profile };
}

/** @throws {LeaseError} `OPTION_INVALID` */
export function readActivate(options: Omit<AcquireOptions, "profile">, limits: LimitTerms): OwnerTerms {
  const faults: FieldFault[] = [];
  const given = readMembers(options, "", ["owner", "ttlMs", "idleMs", "labels", "signal"], faults);
  const terms = readOwner(given, options.signal, limits);
  refuseFaults("OPTION_INVALID", "a warm lease cannot be activated so", faults);
  return terms;
}

/** What a warm lease was asked for, with defaults filled in. */
export interface WarmTerms {
  readonly profile: string;
  readonly maxAgeMs: number;
  readonly signal: AbortSignal | undefined;
}

const defaultMaxAgeMs = 3_600_000;

/** @throws {LeaseError} `OPTION_INVALID` */
export function readWarm(options: WarmOptions, { maxLifetimeMs }: LimitTerms): WarmTerms {
  const faults: FieldFault[] = [];
  const given = readMembers(options, "", ["profile", "maxAgeMs", "signal"], faults);
  needText(given, "profile", maxProfileName);
  const maxAgeMs = given?.whole("maxAgeMs", { min: minMs, max: maxLifetimeMs });
  refuseFaults("OPTION_INVALID", "a warm lease cannot be made so", faults);
  return {
    profile: options.profile,
    maxAgeMs: maxAgeMs ?? Math.min(defaultMaxAgeMs, maxLifetimeMs),
    signal: options.signal,
  };
}

/** @throws {LeaseError} `OPTION_INVALID` */
export function readRenew(
  options: { readonly ttlMs: number; readonly generation?: number | undefined },
  { maxLifetimeMs }: LimitTerms,
): typeof options {
  const faults: FieldFault[] = [];
  const given = readMembers(options, "", ["ttlMs", "generation"], faults);
  if (given?.has("ttlMs") === false) given.fault("ttlMs", "is missing");
  given?.whole("ttlMs", { min: minMs, max: maxLifetimeMs });
  given?.whole("generation", { min: 1, max: Number.MAX_SAFE_INTEGER });
  refuseFaults("OPTION_INVALID", "a lease cannot be renewed so", faults);
  return options;
}

function readOwner(given: Members | undefined, signal: AbortSignal | undefined, limits: LimitTerms): OwnerTerms {
  const labels = given?.texts("labels", { maxCount: 64, name: /^[\s\S]{1,64}$/, maxValue: maxLabelBytes }) ?? {};
  const bytes = Buffer.byteLength(JSON.stringify(labels));
  if (bytes > maxLabelBytes) given?.fault("labels", `may have ${maxLabelBytes} bytes as JSON, had ${bytes}`);
  return {
    owner: needText(given, "owner", maxOwner),
    ttlMs: given?.whole("ttlMs", { min: minMs, max: limits.maxLifetimeMs }) ?? limits.defaultTtlMs,
    idleMs: given?.whole("idleMs", { min: minMs, max: maxIdleMs }),
    labels,
    signal,
  };
}

function needText(given: Members | undefined, name: string, max: number): string {
  if (given?.has(name) === false) given.fault(name, "is missing");
  return given?.text(name, { max }) ?? "";
}
