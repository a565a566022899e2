import { isJsonObject, isSameJson, setMember } from "../bounded-json.js";
import type { DelegationExtension, DelegationHop } from "../extensions.js";
import type { JsonObject, JsonValue } from "../json.js";

const MAX_HOPS = 256;
const MAX_ID_CHARS = 1_000;

/** A chain that a plugin sent back, or what is wrong with it. */
export type ChainReading =
  | { readonly ok: true; readonly chain: readonly DelegationHop[] | undefined }
  | { readonly ok: false; readonly fault: string };

/** Names of the known members, here and on the wire. */
const WIRE_NAMES: ReadonlyMap<string, string> = new Map([
  ["subjectId", "subject_id"],
  ["subjectType", "subject_type"],
  ["audience", "audience"],
  ["scopesGranted", "scopes_granted"],
  ["strategy", "strategy"],
]);
const WIRE_MEMBERS: ReadonlySet<string> = new Set(WIRE_NAMES.values());

/** A delegation in wire form; absent members are left out. */
export function wireDelegation(delegation: DelegationExtension): Readonly<Record<string, unknown>> {
  return {
    chain: delegation.chain.map(wireHop),
    depth: delegation.depth,
    origin_subject_id: delegation.originSubjectId,
    actor_subject_id: delegation.actorSubjectId,
    delegated: delegation.delegated,
    age_seconds: delegation.ageSeconds,
  };
}

function wireHop(hop: DelegationHop): Readonly<Record<string, unknown>> {
  const wire: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(hop)) {
    const known = WIRE_NAMES.get(name);
    if (known !== undefined) wire[known] = value;
    else if (!WIRE_MEMBERS.has(name)) setMember(wire, name, value);
  }
  return wire;
}

/** Reads the chain of a `delegation` slot. Absent: undefined. */
export function readChain(slot: JsonObject): ChainReading {
  const hops = slot["chain"];
  if (hops === undefined || hops === null) return { ok: true, chain: undefined };
  if (!Array.isArray(hops)) return { ok: false, fault: "has a chain that is no list" };
  if (hops.length > MAX_HOPS) return { ok: false, fault: `has more than ${MAX_HOPS} hops` };
  const chain: DelegationHop[] = [];
  for (const hop of hops) {
    const read = tryHop(hop);
    if (read === undefined) return { ok: false, fault: `has a hop ${chain.length} that cannot be read` };
    chain.push(read);
  }
  return { ok: true, chain };
}

function tryHop(wire: JsonValue): DelegationHop | undefined {
  if (!isJsonObject(wire)) return undefined;
  const { subject_id: subjectId, subject_type: subjectType, audience, scopes_granted: scopes, strategy } = wire;
  if (!isId(subjectId) || !isId(subjectType) || !isOptionalId(audience) || !isOptionalId(strategy)) return undefined;
  const scopesGranted = scopes ?? [];
  if (!isTextList(scopesGranted)) return undefined;
  const others = Object.entries(wire).filter(([name]) => !WIRE_MEMBERS.has(name) && !WIRE_NAMES.has(name));
  return Object.freeze({
    ...Object.fromEntries(others),
    subjectId,
    subjectType,
    scopesGranted,
    ...(typeof audience === "string" ? { audience } : {}),
    ...(typeof strategy === "string" ? { strategy } : {}),
  });
}

function isId(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID_CHARS;
}

function isOptionalId(value: JsonValue | undefined): value is string | null | undefined {
  return value === undefined || value === null || (typeof value === "string" && value.length <= MAX_ID_CHARS);
}

function isTextList(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string" && item.length <= MAX_ID_CHARS);
}

/**
 * The delegation with the hops that were appended; undefined when the chain is no longer than ours, or differs before its
 * end. Our own hops stay the same objects; depth, actor and `delegated` follow from the chain; the origin stays.
 */
export function tryExtendChain(
  current: DelegationExtension | undefined,
  returned: readonly DelegationHop[],
): DelegationExtension | undefined {
  const held = current?.chain ?? [];
  const last = returned.at(-1);
  if (last === undefined || returned.length <= held.length) return undefined;
  if (!held.every((hop, at) => isSameHop(hop, returned[at]))) return undefined;
  const chain = Object.freeze([...held, ...returned.slice(held.length)]);
  return Object.freeze({
    ...current,
    chain,
    depth: chain.length,
    originSubjectId: current?.originSubjectId ?? chain[0]?.subjectId,
    actorSubjectId: last.subjectId,
    delegated: true,
  });
}

/** Times are left out: a worker may print them in another form. */
function isSameHop(held: DelegationHop, returned: DelegationHop | undefined): boolean {
  return (
    returned !== undefined &&
    held.subjectId === returned.subjectId &&
    held.subjectType === returned.subjectType &&
    (held.audience ?? undefined) === returned.audience &&
    (held.strategy ?? undefined) === returned.strategy &&
    isSameJson(held.scopesGranted ?? [], returned.scopesGranted)
  );
}
