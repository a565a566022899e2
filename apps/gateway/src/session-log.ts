import { join } from "node:path";
import {
  isChainError,
  type SessionLogOptions as OpenLogOptions,
  openSessionLog as openLog,
  type Receipt,
} from "@berth/audit-chain";
import type { RelayEvent } from "@berth/mcp-relay";
import type { Decision } from "@berth/spawn-attestation";
import {
  type ChildFacts,
  cancelledEntry,
  decisionEntry,
  driftEntry,
  exitEntry,
  intentEntry,
  type LogEntry,
  type LogMembers,
  outcomeEntry,
  refusedEntry,
} from "./log-entries.js";

/** The log of one process: one session, bracketed by its opening and its close. Digests and sizes only, never payloads. */
export interface SessionLog {
  readonly logId: string;
  readonly session: string;
  /** Resolves as the durability level says. Entries are in call order. */
  append(entry: LogEntry): Promise<unknown>;
  /** What the relay reports, as an entry. A call whose intent is rejected here is not made. */
  record(event: RelayEvent): Promise<unknown>;
  /** What the measuring decided about a server. */
  recordDecision(server: string, decision: Decision, extra?: LogMembers): Promise<unknown>;
  /** Why the last intent that was rejected could not be recorded, and what to do; undefined while there was none. */
  adviseUnrecorded(): string | undefined;
  /** Writes `session.close`, then ends the log. */
  close(reason: string): Promise<void>;
}

/** What opens a log. */
export interface SessionLogOptions extends Omit<OpenLogOptions, "onTurn"> {
  /** What the relay does not know of a server's present child. */
  childFacts?(server: string): ChildFacts | undefined;
}

/** Begins the log of this process, in a folder of its own: many gateways may write at once. */
export async function openSessionLog({ childFacts, ...options }: SessionLogOptions): Promise<SessionLog> {
  const { logId, session, append, close } = await openLog(options);
  const recorder = createRecorder(append, childFacts ?? (() => undefined));
  return {
    logId,
    session,
    append,
    record: recorder.record,
    recordDecision: (server, decision, extra) => append({ ...decisionEntry(server, decision), ...extra }),
    adviseUnrecorded: () =>
      recorder.refusal === undefined ? undefined : adviceAbout(recorder.refusal, join(options.folder, logId)),
    close,
  };
}

type Append = (entry: LogEntry) => Promise<Receipt>;

interface Recorder {
  record(event: RelayEvent): Promise<unknown>;
  /** What the last rejected intent was rejected with. */
  readonly refusal: unknown;
}

function createRecorder(append: Append, childFacts: (server: string) => ChildFacts | undefined): Recorder {
  // An outcome names its intent by sequence number, so that the log can be checked without our own call ids. The number
  // comes from the receipt, never from the head: an intent that was refused has none, and the head is another's.
  const intents = new Map<string, number>();
  let refusal: unknown;
  return {
    get refusal() {
      return refusal;
    },
    record(event) {
      const facts = event.server === undefined ? undefined : childFacts(event.server);
      switch (event.type) {
        case "call.intent": {
          const keep = ({ sequence }: Receipt): void => void intents.set(event.callId, sequence);
          return append(intentEntry(event, facts)).then(keep, (error: unknown) => {
            refusal = error;
            throw error;
          });
        }
        case "call.outcome": {
          const intent = intents.get(event.callId);
          intents.delete(event.callId);
          return append(outcomeEntry(event, intent, facts));
        }
        case "call.refused":
          return append({ ...refusedEntry(event), containment: facts?.containment });
        case "call.cancelled":
          return append({ ...cancelledEntry(event), containment: facts?.containment });
        case "drift":
          return append({ ...driftEntry(event), containment: facts?.containment });
        case "child.exit":
          return append({ ...exitEntry(event), containment: facts?.containment });
      }
    },
  };
}

/** Names the system's own code, never a path of the client's or a text of a server's. */
function adviceAbout(refusal: unknown, directory: string): string {
  const fault = isChainError(refusal) && refusal.code === "AUDIT_UNAVAILABLE" ? refusal.cause : refusal;
  if (!isChainError(fault)) return `The log ${directory} did not take it`;
  const cause = fault.cause instanceof Error && "code" in fault.cause ? ` (${String(fault.cause.code)})` : "";
  if (!["WRITE_FAILED", "CHAIN_FAILED", "OPEN_FAILED"].includes(fault.code)) {
    return `The log ${directory} did not take it: ${fault.code}${cause}`;
  }
  return `The log ${directory} cannot be written${cause}: make room or correct its disk, then calls are made again`;
}
