import type { JsonValue, SessionEntry } from "@berth/audit-chain";
import type { Outcome, SessionEvent } from "@berth/code-sessions";
import type { LeaseEvent } from "@berth/environment-leases";
import { configuredName } from "../profiles/profiles.js";

// Names of an entry's members are the log's format: see the README. Digests and sizes only, never code, output or arguments.

/** Something that happened to a lease, or a command in one. `intent` is the sequence number of an outcome's intent. */
export function leaseEntry(event: LeaseEvent, intent?: number): SessionEntry {
  switch (event.kind) {
    case "orphan":
      return { type: "lease.orphan", provider: event.provider, worker: event.worker };
    case "command.intent": {
      const { kind, lease, operation, argvDigest, argvCount } = event;
      const argv = { argvDigest: `sha256:${argvDigest}`, argvCount };
      return { type: kind, lease: lease.id, owner: lease.owner, operation, ...argv };
    }
    case "command.outcome": {
      const { kind, lease, operation, outcome, exitCode, stdoutBytes, stderrBytes } = event;
      const durationMs = Math.round(event.durationMs);
      const sizes = { durationMs, stdoutBytes, stderrBytes };
      return { type: kind, intent, lease: lease.id, owner: lease.owner, operation, outcome, exitCode, ...sizes };
    }
    default:
      return stateEntry(event);
  }
}

type StateEvent = Exclude<LeaseEvent, { readonly kind: "orphan" | "command.intent" | "command.outcome" }>;

function stateEntry({ kind, lease, enforced, isolated, restriction }: StateEvent): SessionEntry {
  const { id, owner, profile, provider, worker, generation, expiresAt, endReason, lastError } = lease;
  return {
    type: `lease.${kind}`,
    lease: id,
    owner,
    profile: configuredName(profile),
    provider,
    isolated,
    worker,
    generation,
    expiresAt: kind === "active" || kind === "renewed" ? new Date(expiresAt).toISOString() : undefined,
    reason: endReason,
    error: kind === "releasing" ? lastError : undefined,
    restriction,
    enforced: enforced?.map(({ limit, value, by }) => `${limit}=${value} (${by})`),
  };
}

/** Something that happened to a session, or code in one. */
export function sessionEntry(event: SessionEvent, intent?: number): SessionEntry {
  const about = { lease: event.lease, owner: event.owner, name: event.session };
  switch (event.kind) {
    case "session.started":
      return { type: "lease.session.started", ...about };
    case "session.ended":
      return { type: "lease.session.ended", ...about, reason: event.end.reason, detail: event.end.detail };
    case "call.intent": {
      const { codeDigest, codeBytes } = event;
      return { type: "command.intent", ...about, operation: "execute", codeDigest, codeBytes };
    }
    case "call.outcome":
      return { type: "command.outcome", intent, ...about, operation: "execute", ...outcomeMembers(event.outcome) };
  }
}

function outcomeMembers(outcome: Outcome): Readonly<Record<string, JsonValue | undefined>> {
  const { status, durationMs, cpuMs, stdout, stderr, displays, displaysDropped } = outcome;
  return {
    outcome: status,
    durationMs: Math.round(durationMs),
    cpuMs: cpuMs === undefined ? undefined : Math.round(cpuMs),
    stdoutBytes: stdout.bytes,
    stderrBytes: stderr.bytes,
    displays: displays.length + displaysDropped,
  };
}
