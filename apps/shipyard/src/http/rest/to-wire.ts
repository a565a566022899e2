import type { FileEntry, Outcome, OutputEvent, SessionEnd, SessionStatus, Variable } from "@berth/code-sessions";
import type { LeaseRecord } from "@berth/environment-leases";
import { configuredName } from "../../profiles/profiles.js";
import type { EndBody, FileBody, LeaseBody, OutcomeBody, StatusBody, StreamEventBody, VariableBody } from "./wire.js";

/** Years 0001 to 9999: code may give its files any time, and Date throws at what it cannot hold. */
const [earliest, latest] = [-62_135_596_800_000, 253_402_300_799_999];

function time(at: number): string {
  return new Date(Number.isNaN(at) ? 0 : Math.min(Math.max(at, earliest), latest)).toISOString();
}

export function outcomeBody(outcome: Outcome): OutcomeBody {
  const { status, stdout, stderr, output, result, displays, fault, reason, count, spill } = outcome;
  return {
    status,
    stdout,
    stderr,
    output,
    result,
    displays,
    displays_dropped: outcome.displaysDropped,
    fault,
    reason,
    duration_ms: outcome.durationMs,
    cpu_ms: outcome.cpuMs,
    count,
    spill,
    restriction: outcome.restriction,
  };
}

export function eventBody(event: OutputEvent): StreamEventBody {
  return event.kind === "display"
    ? { kind: "display", display: event.display }
    : { kind: event.kind, text: event.text };
}

export function endBody({ reason, detail, at }: SessionEnd): EndBody {
  return { reason, detail, at: time(at) };
}

export function leaseBody(lease: LeaseRecord): LeaseBody {
  const { id, state, profile, provider, generation } = lease;
  return {
    id,
    state,
    profile: configuredName(profile),
    provider,
    generation,
    created_at: time(lease.createdAt),
    expires_at: time(lease.expiresAt),
    ceiling_at: time(lease.ceilingAt),
    idle_ms: lease.idleMs,
    last_used_at: time(lease.lastUsedAt),
    end_reason: lease.endReason,
  };
}

export function statusBody(status: SessionStatus): StatusBody {
  const { id, state, busy, queued, executions, isolated, enforced, restriction, end } = status;
  return {
    session_id: id,
    state,
    busy,
    queued,
    created_at: time(status.createdAt),
    last_used_at: time(status.lastUsedAt),
    executions,
    isolated,
    enforced,
    restriction,
    lease: leaseBody(status.lease),
    end: end === undefined ? undefined : endBody(end),
  };
}

export function variableBody({ name, type, preview, sizeBytes }: Variable): VariableBody {
  return { name, type, preview, size_bytes: sizeBytes };
}

export function fileBody({ path, kind, bytes, modifiedAt }: FileEntry): FileBody {
  return { path, kind, bytes, modified_at: time(modifiedAt) };
}
