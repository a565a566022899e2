import { hash } from "node:crypto";
import type { JsonValue } from "@berth/audit-chain";
import type { CallIntent, CallOutcome, CallRefused, ChildExit, DriftSeen, UpstreamEvidence } from "@berth/mcp-relay";
import type { Decision } from "@berth/spawn-attestation";

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

/** A call that is about to leave. */
export function intentEntry(event: CallIntent): LogEntry {
  const { type, server, method, tool, evidence, definition, wouldRefuse } = event;
  return {
    type,
    server,
    method,
    tool,
    ...evidenceOf(evidence),
    definition: definition === "none" ? undefined : definition,
    reason: wouldRefuse,
    observed: wouldRefuse === undefined ? undefined : true,
    ...sizeOf("request", event.request),
  };
}

/** How a call ended; `intent` is the sequence number of its intent. */
export function outcomeEntry(event: CallOutcome, intent: number | undefined): LogEntry {
  const { type, server, method, tool, evidence, status, reason, durationMs, response } = event;
  return {
    type,
    intent,
    server,
    method,
    tool,
    ...evidenceOf(evidence),
    status,
    reason,
    durationMs: Math.round(durationMs * 1000) / 1000,
    ...sizeOf("response", response),
  };
}

/** A call that never left. */
export function refusedEntry(event: CallRefused): LogEntry {
  const { type, server, method, tool, code, reason, expected, measured } = event;
  const sizes = { ...sizeOf("request", event.request), ...sizeOf("response", event.response) };
  return { type, server, method, tool, code, reason, expected, measured, ...sizes };
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

function sizeOf(side: "request" | "response", frame: Uint8Array | undefined): LogMembers {
  if (frame === undefined) return {};
  return { [`${side}Bytes`]: frame.byteLength, [`${side}Digest`]: `sha256:${hash("sha256", frame, "hex")}` };
}
