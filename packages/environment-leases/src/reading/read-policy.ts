import type { FieldFault } from "../errors.js";
import type { EnvironmentLimits, ResourcePolicy, ResourceTerms } from "../policy.js";
import { isHostRule } from "./host-rule.js";
import { type Members, readMembers, shownValue } from "./members.js";
import { refuseFaults } from "./refuse.js";

const MiB = 2 ** 20;
const GiB = 2 ** 30;
const TiB = 2 ** 40;

export const defaultWorkspaceBytes: number = 256 * MiB;
export const defaultTmpBytes: number = 64 * MiB;
const defaultCommandTimeoutMs = 300_000;
const maxHosts = 256;
const maxPorts = 64;

const members = [
  "network",
  "allowedHosts",
  "elevation",
  "packages",
  "exposeResources",
  "exposedPorts",
  "commandTimeoutMs",
  "limits",
] as const satisfies readonly (keyof ResourcePolicy)[];

/** Every limit that a policy may name. */
export const limitNames: readonly (keyof EnvironmentLimits)[] = [
  "memoryBytes",
  "processes",
  "cpus",
  "fileBytes",
  "openFiles",
  "workspaceBytes",
  "tmpBytes",
];

/**
 * Checks what an operator wrote and fills in the defaults, which deny.
 * @throws {LeaseError} `POLICY_INVALID`; `faults` names every member at fault.
 */
export function readPolicy(policy: unknown): ResourceTerms {
  const faults: FieldFault[] = [];
  const terms = collectPolicy(policy, "", faults);
  refuseFaults("POLICY_INVALID", "the policy cannot be used", faults);
  return terms;
}

/** The same as a part of something larger: notes the faults, and gives terms that are good for nothing if there are any. */
export function collectPolicy(policy: unknown, field: string, faults: FieldFault[]): ResourceTerms {
  const given = readMembers(policy, field, members, faults);
  const network = given?.choice("network", ["none", "internet", "allowlist"]) ?? "none";
  const exposeResources = given?.flag("exposeResources") ?? false;
  const allowedHosts = given === undefined ? [] : readHosts(given, network === "allowlist", faults);
  const exposedPorts = given === undefined ? [] : readPorts(given, exposeResources, faults);
  return Object.freeze({
    network,
    allowedHosts,
    elevation: given?.flag("elevation") ?? false,
    packages: given?.choice("packages", ["disabled", "environment", "system"]) ?? "disabled",
    exposeResources,
    exposedPorts,
    commandTimeoutMs: given?.whole("commandTimeoutMs", { min: 1, max: 86_400_000 }) ?? defaultCommandTimeoutMs,
    limits: readLimits(given?.object("limits", limitNames)),
  });
}

function readHosts(given: Members, isNeeded: boolean, faults: FieldFault[]): readonly string[] {
  const seen = new Set<string>();
  const hosts = given.list("allowedHosts", maxHosts, (host, field) => {
    if (typeof host !== "string" || !isHostRule(host)) {
      const needs = "has to be host, host:port or *.suffix: a DNS name in lower case, no address, scheme or path";
      faults.push({ field, fault: `${needs}; was ${shownValue(host)}` });
    } else if (seen.has(host)) faults.push({ field, fault: `is there twice: ${shownValue(host)}` });
    else {
      seen.add(host);
      return host;
    }
    return undefined;
  });
  needTogether(given, { member: "allowedHosts", isNeeded, with: "network: allowlist" });
  return Object.freeze(hosts);
}

function readPorts(given: Members, isNeeded: boolean, faults: FieldFault[]): readonly number[] {
  const seen = new Set<number>();
  const ports = given.list("exposedPorts", maxPorts, (port, field) => {
    if (typeof port !== "number" || !Number.isInteger(port) || port < 1 || port > 65_535) {
      faults.push({ field, fault: `has to be a whole number from 1 to 65535, was ${shownValue(port)}` });
    } else if (seen.has(port)) faults.push({ field, fault: `is there twice: ${port}` });
    else {
      seen.add(port);
      return port;
    }
    return undefined;
  });
  needTogether(given, { member: "exposedPorts", isNeeded, with: "exposeResources" });
  return Object.freeze(ports);
}

/** A list that another member needs, and that means nothing without it. */
function needTogether(
  given: Members,
  pair: { readonly member: string; readonly isNeeded: boolean; readonly with: string },
): void {
  const count = given.count(pair.member);
  if (pair.isNeeded && count === 0) given.fault(pair.member, `needs at least one entry with ${pair.with}`);
  if (!pair.isNeeded && count > 0) given.fault(pair.member, `is only for ${pair.with}`);
}

function readLimits(given: Members | undefined): ResourceTerms["limits"] {
  const bounds = { min: MiB, max: 64 * GiB };
  return Object.freeze({
    memoryBytes: given?.whole("memoryBytes", { min: 16 * MiB, max: TiB }),
    processes: given?.whole("processes", { min: 2, max: 32_768 }),
    cpus: given?.number("cpus", { min: 0.01, max: 256 }),
    fileBytes: given?.whole("fileBytes", { min: 0, max: TiB }),
    openFiles: given?.whole("openFiles", { min: 16, max: 1_048_576 }),
    workspaceBytes: given?.whole("workspaceBytes", bounds) ?? defaultWorkspaceBytes,
    tmpBytes: given?.whole("tmpBytes", { ...bounds, min: 64 * 1_024 }) ?? defaultTmpBytes,
  });
}
