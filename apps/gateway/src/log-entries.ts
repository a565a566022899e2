import { hash } from "node:crypto";
import type { JsonValue } from "@berth/audit-chain";
import type {
  CallCancelled,
  CallIntent,
  CallOutcome,
  CallRefused,
  ChildExit,
  DriftSeen,
  UpstreamEvidence,
} from "@berth/mcp-relay";
import type { Decision } from "@berth/spawn-attestation";
import type { HookDecision } from "@berth/venv-host/executor";

// Names of an entry's members are the log's format: see the README, which a test compares with what sessions write.

/** Members of an entry beside its type. Undefined ones are left out. */
export type LogMembers = Readonly<Record<string, JsonValue | undefined>>;

/** An entry before its session is added. */
export interface LogEntry extends LogMembers {
  readonly type: string;
}

/** What the measuring decided about a server. */
export function decisionEntry(server: string, decision: Decision): LogEntry {
  const { verdict, evidence, reason, expected, measured, target, guard, coverage, observed, stage } = decision;
  return {
    type: verdict === "spawn" ? "spawn" : "spawn.refused",
    server,
    ...(verdict === "spawn" ? { evidence } : {}),
    digest: measured,
    reason,
    expected,
    target,
    targetInArgv: decision.targetInArgv,
    guard,
    coverage,
    leavesOut: decision.leavesOut === undefined ? undefined : [...decision.leavesOut],
    interpreter: decision.interpreter,
    interpreterKind: decision.interpreterKind,
    osCode: decision.osCode,
    stage: stage === "decide" ? undefined : stage,
    observed: observed ? true : undefined,
  };
}

/** Facts about a child that the relay does not know. */
export interface ChildFacts {
  readonly containment: string;
  /** So far. */
  readonly stderrBytes: number | undefined;
}

// The two of each call are made in one piece, so that they always have the same members in the same order: copying objects
// together costs more than hashing them (bench/gateway.bench.mjs).

/** A call that is about to leave. */
export function intentEntry(event: CallIntent, facts: ChildFacts | undefined): LogEntry {
  const { type, server, method, tool, mark, evidence, definition, wouldRefuse, request, sent } = event;
  return {
    type,
    server,
    method,
    tool,
    evidence: evidence.evidence,
    digest: evidence.digest,
    guard: evidence.guard,
    coverage: evidence.coverage,
    containment: facts?.containment,
    definition: definition === "none" ? undefined : definition,
    reason: wouldRefuse,
    observed: wouldRefuse === undefined ? undefined : true,
    request: mark,
    requestBytes: request.byteLength,
    requestDigest: digestOf(request),
    sentBytes: sent?.byteLength,
    sentDigest: sent && digestOf(sent),
  };
}

/** How a call ended; `intent` is the sequence number of its intent. */
export function outcomeEntry(event: CallOutcome, intent: number | undefined, facts: ChildFacts | undefined): LogEntry {
  const { type, server, method, tool, evidence, status, reason, durationMs, response, received } = event;
  return {
    type,
    intent,
    server,
    method,
    tool,
    evidence: evidence.evidence,
    digest: evidence.digest,
    guard: evidence.guard,
    coverage: evidence.coverage,
    containment: facts?.containment,
    status,
    reason,
    durationMs: Math.round(durationMs * 1000) / 1000,
    responseBytes: response?.byteLength,
    responseDigest: response && digestOf(response),
    receivedBytes: received?.byteLength,
    receivedDigest: received && digestOf(received),
    stderrBytes: facts?.stderrBytes,
  };
}

/** A call that never left. */
export function refusedEntry(event: CallRefused): LogEntry {
  const { type, server, method, tool, mark, code, reason, expected, measured, request, response } = event;
  const sizes = { requestBytes: request.byteLength, responseBytes: response.byteLength };
  const digests = { requestDigest: digestOf(request), responseDigest: digestOf(response) };
  return { type, server, method, tool, request: mark, code, reason, expected, measured, ...sizes, ...digests };
}

/** A call that the client took back before it left. */
export function cancelledEntry({ type, server, method, tool, mark }: CallCancelled): LogEntry {
  return { type, server, method, tool, request: mark };
}

/** What a plugin decided about a call, in which environment, and what it made of the payload. Why it did is not for a log of digests. */
export function hookEntry({
  plugin,
  hook,
  mode,
  status,
  code,
  requestId,
  durationMs,
  evidence,
  change,
}: HookDecision): LogEntry {
  return {
    type: "hook.decision",
    plugin,
    hook,
    mode,
    status,
    code,
    request: requestId,
    environment: evidence?.["environment"],
    environmentDigest: evidence?.["environmentDigest"],
    before: change && `sha256:${change.before}`,
    after: change && `sha256:${change.after}`,
    durationMs: Math.round(durationMs * 1000) / 1000,
  };
}

/** A difference between what was pinned and what a server says now. */
export function driftEntry(event: DriftSeen): LogEntry {
  const { type, server, kind, name, change, renamedFrom, expected, measured, observed } = event;
  return { type, server, kind, name, change, renamedFrom, expected, measured, observed: observed || undefined };
}

/** The end of a child; lines are dropped in a session only. */
export function exitEntry(event: Omit<ChildExit, "type" | "droppedLines"> & { droppedLines?: number }): LogEntry {
  const { server, reason, stderrBytes, droppedLines, exit, evidence } = event;
  const ended = { exitCode: exit.code ?? undefined, exitSignal: exit.signal ?? undefined };
  return { type: "child.exit", server, ...evidenceOf(evidence), reason, ...ended, stderrBytes, droppedLines };
}

function evidenceOf({ evidence, digest, guard, coverage }: UpstreamEvidence): LogMembers {
  return { evidence, digest, guard, coverage };
}

function digestOf(frame: Uint8Array): string {
  return `sha256:${hash("sha256", frame, "hex")}`;
}
