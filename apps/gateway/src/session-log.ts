import { hash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Chain, type Durability, type JsonValue, openChain } from "@berth/audit-chain";
import type { CallIntent, CallOutcome, CallRefused, RelayEvent, UpstreamEvidence } from "@berth/mcp-relay";
import type { Decision } from "@berth/spawn-attestation";

/** Members of an entry beside its type. Undefined ones are left out. */
export type LogMembers = Readonly<Record<string, JsonValue | undefined>>;

/** An entry before its session is added. */
export interface LogEntry extends LogMembers {
  readonly type: string;
}

/** The log of one process: one session, bracketed by its opening and its close. Digests and sizes only, never payloads. */
export interface SessionLog {
  readonly logId: string;
  readonly session: string;
  /** Resolves as the durability level says. Entries are in call order. */
  append(entry: LogEntry): Promise<unknown>;
  /** What the relay reports, as an entry. */
  record(event: RelayEvent): Promise<unknown>;
  /** What the measuring decided about a server. */
  recordDecision(server: string, decision: Decision, extra?: LogMembers): Promise<unknown>;
  /** Writes `session.close`, then ends the log. */
  close(reason: string): Promise<void>;
}

/** Facts about a child. */
export interface ChildFacts {
  readonly containment: string;
  /** So far. */
  readonly stderrBytes: number | undefined;
}

/** What opens a log. */
export interface SessionLogOptions {
  /** The state folder's `audit`. */
  readonly folder: string;
  readonly durability: Durability;
  /** What `session.open` says beside its session. */
  readonly opening: LogMembers;
  now(): number;
  /** What the relay does not know of a server's present child. */
  childFacts?(server: string): ChildFacts | undefined;
}

/** Begins the log of this process, in a folder of its own: many gateways may write at once. */
export async function openSessionLog(options: SessionLogOptions): Promise<SessionLog> {
  const session = randomUUID();
  const logId = `${new Date(options.now()).toISOString().replace(/[-:]|\.\d+/gu, "")}-${session.slice(0, 8)}`;
  const chain = await openChain({
    directory: join(options.folder, logId),
    durability: options.durability,
    now: options.now,
    monotonic: () => performance.now(),
  });
  const append = (entry: LogEntry): Promise<unknown> => chain.append({ ...entry, session });
  const record = createRecorder(chain, session, options.childFacts ?? (() => undefined));
  let closing: Promise<void> | undefined;
  const end = async (reason: string): Promise<void> => {
    try {
      await append({ type: "session.close", reason });
    } finally {
      await chain.close();
    }
  };
  await append({ type: "session.open", ...options.opening });
  return {
    logId,
    session,
    append,
    record,
    recordDecision: (server, decision, extra) => append({ ...decisionEntry(server, decision), ...extra }),
    close: (reason) => (closing ??= end(reason)),
  };
}

/** Names of an entry's members are the log's format: see the README. */
function decisionEntry(server: string, decision: Decision): LogEntry {
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

function createRecorder(
  chain: Chain,
  session: string,
  childFacts: (server: string) => ChildFacts | undefined,
): (event: RelayEvent) => Promise<unknown> {
  // An outcome names its intent by sequence number, so that the log can be checked without our own call ids.
  const intents = new Map<string, number>();
  return (event) => {
    const facts = event.server === undefined ? undefined : childFacts(event.server);
    const append = (entry: LogEntry): Promise<unknown> =>
      chain.append({ ...entry, session, containment: facts?.containment });
    switch (event.type) {
      case "call.intent": {
        const appended = append(intentEntry(event));
        intents.set(event.callId, chain.head.sequence);
        return appended;
      }
      case "call.outcome": {
        const intent = intents.get(event.callId);
        intents.delete(event.callId);
        return append({ ...outcomeEntry(event), intent, stderrBytes: facts?.stderrBytes });
      }
      case "call.refused":
        return append(refusedEntry(event));
      case "drift": {
        const { type, server, kind, name, change, renamedFrom, expected, measured, observed } = event;
        return append({
          type,
          server,
          kind,
          name,
          change,
          renamedFrom,
          expected,
          measured,
          observed: observed || undefined,
        });
      }
      case "child.exit": {
        const { type, server, reason, stderrBytes, droppedLines, exit, evidence } = event;
        const ended = { exitCode: exit.code ?? undefined, exitSignal: exit.signal ?? undefined };
        return append({ type, server, ...evidenceOf(evidence), reason, ...ended, stderrBytes, droppedLines });
      }
    }
  };
}

function intentEntry(event: CallIntent): LogEntry {
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

function outcomeEntry(event: CallOutcome): LogEntry {
  const { type, server, method, tool, evidence, status, reason, durationMs, response } = event;
  return {
    type,
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

function refusedEntry(event: CallRefused): LogEntry {
  const { type, server, method, tool, code, reason, expected, measured } = event;
  const sizes = { ...sizeOf("request", event.request), ...sizeOf("response", event.response) };
  return { type, server, method, tool, code, reason, expected, measured, ...sizes };
}

function evidenceOf({ evidence, digest, guard, coverage }: UpstreamEvidence): LogMembers {
  return { evidence, digest, guard, coverage };
}

function sizeOf(side: "request" | "response", frame: Uint8Array | undefined): LogMembers {
  if (frame === undefined) return {};
  return { [`${side}Bytes`]: frame.byteLength, [`${side}Digest`]: `sha256:${hash("sha256", frame, "hex")}` };
}
