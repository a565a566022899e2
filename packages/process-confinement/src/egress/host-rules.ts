import { ConfinementError } from "../errors.js";
import { createReader } from "../reading/read-values.js";
import type { EgressRule } from "./egress.js";
import { readHostName } from "./host-name.js";

/** Rules in the form that is asked for each request. */
export interface HostRules {
  /** Undefined when allowed. `name` is as `readHostName` gives it. */
  refuses(name: string, port: number): "HOST_NOT_ALLOWED" | "PORT_NOT_ALLOWED" | undefined;
}

const maxRules = 256;
const maxPorts = 64;
const defaultPorts = [443, 80];

/** @throws {ConfinementError} `EGRESS_RULE_INVALID`, with the member at fault as `field`. */
export function readRules(allow: readonly EgressRule[]): HostRules {
  if (!Array.isArray(allow) || allow.length < 1 || allow.length > maxRules)
    throw invalid("allow", `allow must hold 1 to ${maxRules} rules`);
  const exact = new Map<string, Set<number>>();
  const suffixes = new Map<string, Set<number>>();
  allow.forEach((rule: EgressRule, index) => {
    readRuleMembers(rule, `allow[${index}]`);
    const host = readRuleHost(rule, `allow[${index}]`);
    const ports = readRulePorts(rule, `allow[${index}]`);
    const wildcard = host.startsWith("*.");
    const table = wildcard ? suffixes : exact;
    const key = wildcard ? host.slice(2) : host;
    table.set(key, new Set([...(table.get(key) ?? []), ...ports]));
  });
  return { refuses: (name, port) => refusalOf([exact.get(name), ...matching(suffixes, name)], port) };
}

function refusalOf(
  found: readonly (Set<number> | undefined)[],
  port: number,
): "HOST_NOT_ALLOWED" | "PORT_NOT_ALLOWED" | undefined {
  const known = found.filter((ports) => ports !== undefined);
  if (known.some((ports) => ports.has(port))) return undefined;
  return known.length === 0 ? "HOST_NOT_ALLOWED" : "PORT_NOT_ALLOWED";
}

/** By whole labels, so that `*.example.com` never allows `evilexample.com`. */
function matching(suffixes: ReadonlyMap<string, Set<number>>, name: string): (Set<number> | undefined)[] {
  const labels = name.split(".");
  return labels.slice(1).map((_, index) => suffixes.get(labels.slice(index + 1).join(".")));
}

/** A misspelled `ports` would be the default ones. */
function readRuleMembers(rule: EgressRule, field: string): void {
  const reader = createReader("EGRESS_RULE_INVALID");
  reader.refuseUnknown(field, reader.object(field, rule), ["host", "ports"]);
}

function readRuleHost(rule: EgressRule, field: string): string {
  const host: unknown = rule.host;
  if (typeof host !== "string") throw invalid(`${field}.host`, "host must be a string");
  const wildcard = host.startsWith("*.");
  const bare = wildcard ? host.slice(2) : host;
  const reading = readHostName(bare);
  if ("problem" in reading) {
    const what = reading.problem === "address" ? "is an address; rules name hosts" : "is not a host name";
    throw invalid(`${field}.host`, `${JSON.stringify(host.slice(0, 253))} ${what}`);
  }
  if (reading.name !== bare)
    throw invalid(
      `${field}.host`,
      `${JSON.stringify(host)} is not in the form that is compared`,
      `write ${reading.name}`,
    );
  if (wildcard && !bare.includes("."))
    throw invalid(`${field}.host`, `${host} allows a whole top-level domain; a suffix has two labels or more`);
  return host;
}

function readRulePorts(rule: EgressRule, field: string): readonly number[] {
  const ports: unknown = rule.ports ?? defaultPorts;
  const good =
    Array.isArray(ports) &&
    ports.length >= 1 &&
    ports.length <= maxPorts &&
    ports.every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535);
  if (!good) throw invalid(`${field}.ports`, `ports must be 1 to ${maxPorts} integers from 1 to 65535`);
  return ports;
}

function invalid(field: string, message: string, cure?: string): ConfinementError {
  return new ConfinementError("EGRESS_RULE_INVALID", message, { field, cure });
}
