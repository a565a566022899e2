import {
  type Envelope,
  type Frame,
  type FramingError,
  isFramingError,
  type OversizeFrame,
  scanEnvelope,
  wireErrors,
} from "@berth/jsonrpc-framing";
import type { RelayNotice, UpstreamFault } from "../relay-options.js";
import type { BadLinePolicy } from "../server-policy.js";
import { encodeText, errorFrame } from "../translate.js";
import { excerptOf, visibleText } from "../visible-text.js";
import { upstreamGone } from "../wire-errors.js";
import type { Answer } from "./pending.js";

/** Members of a child's `params` that the relay looks at. */
const wantedMembers = ["progressToken", "requestId", "_meta", "task"];
/** A member that is looked at must mean the same to the client: with two ids an answer could be taken for another server's. */
const strictly = { grammar: "full", duplicateKeys: "refuse" } as const;

/** Who is told what a child says. */
export interface IntakeOptions {
  readonly server: string;
  readonly onBadLine: BadLinePolicy;
  onRequest(frame: Uint8Array, envelope: Envelope): void;
  onNotification(frame: Uint8Array, envelope: Envelope): void;
  /** Returns false when this id was never issued. */
  onAnswer(id: string | number, answer: Answer): boolean;
  onFault(fault: Omit<UpstreamFault, "count">): void;
  onNotice(notice: RelayNotice): void;
  /** The child's stream can no longer be trusted. */
  onDesynchronized(): void;
  /** Sends something back to the child. */
  send(frame: Uint8Array): void;
}

/** What a child writes, sorted into requests, notifications, answers and faults. */
export interface Intake {
  frame(frame: Frame): void;
  oversize(frame: OversizeFrame): void;
  fault(fault: FramingError, frame: Frame | undefined): void;
  /** Lines dropped under `quarantine`. */
  readonly droppedLines: number;
}

interface BadLine {
  readonly code: string;
  readonly message: string;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** What becomes of lines that are no messages. */
interface BadLines {
  /** By the server's policy, or by a stricter one. */
  take(line: BadLine, policy?: BadLinePolicy): void;
  readonly dropped: number;
}

function createBadLines({ server, onBadLine, onFault, onDesynchronized }: IntakeOptions): BadLines {
  let dropped = 0;
  return {
    take({ code, message, offset, bytes }, policy = onBadLine) {
      const action = policy === "fatal" ? "ended" : "dropped";
      if (action === "dropped") dropped += 1;
      onFault({ server, code, message: visibleText(message), offset, excerpt: excerptOf(bytes), action });
      if (action === "ended") onDesynchronized();
    },
    get dropped() {
      return dropped;
    },
  };
}

/**
 * A line that is not one message goes by the server's policy; a response to an id that was never issued is fatal under every one. A message
 * with a `method` is never taken for a response. All of JSON's grammar is checked: what the child wrote is passed on as it came, and a
 * broken line must not become the client's.
 */
export function createIntake(options: IntakeOptions): Intake {
  const { server } = options;
  const badLines = createBadLines(options);
  const notice = (code: string, message: string): void =>
    options.onNotice({ code, server, message: visibleText(message) });

  const answer = (id: string | number, given: Answer, { offset, bytes }: Frame): void => {
    if (options.onAnswer(id, given)) return;
    const message = `response to id ${excerptOf(encodeText(JSON.stringify(id)))}, which was never issued`;
    badLines.take({ code: "FOREIGN_RESPONSE", message, offset, bytes }, "fatal");
  };

  const message = (frame: Frame, envelope: Envelope): void => {
    const { kind, id } = envelope;
    if (kind === "request") options.onRequest(frame.bytes, envelope);
    else if (kind === "notification") options.onNotification(frame.bytes, envelope);
    else if (id === undefined) notice("ERROR_WITHOUT_ID", excerptOf(frame.bytes));
    else answer(id.value, { kind, frame: frame.bytes, envelope }, frame);
  };

  return {
    frame(frame) {
      let envelope: Envelope;
      try {
        envelope = scanEnvelope(frame.bytes, wantedMembers, strictly);
      } catch (error) {
        if (!isFramingError(error)) throw error;
        badLines.take({ ...frame, code: error.code, message: error.message });
        return;
      }
      message(frame, envelope);
    },
    oversize({ offset, byteLength, head, envelope }) {
      const text = `a message of ${byteLength} bytes is over the limit`;
      if (envelope === undefined) badLines.take({ code: "FRAME_TOO_LARGE", message: text, offset, bytes: head });
      else notice("FRAME_TOO_LARGE", text);
      if (envelope?.id === undefined) return;
      if (envelope.kind === "request") {
        const idBytes = encodeText(JSON.stringify(envelope.id));
        options.send(errorFrame(idBytes, { code: wireErrors.invalidRequest, message: text }));
      } else {
        const fault = upstreamGone(server, "FRAME_TOO_LARGE", `${byteLength} bytes`);
        answer(envelope.id, { kind: "fault", fault }, { offset, bytes: head });
      }
    },
    fault({ code, message: text, offset = 0 }, frame) {
      // A line that ends with the stream is a child that died while it wrote: its exit is what there is to say.
      if (code === "STREAM_TRUNCATED") return;
      badLines.take({ code, message: text, offset: frame?.offset ?? offset, bytes: frame?.bytes ?? new Uint8Array() });
    },
    get droppedLines() {
      return badLines.dropped;
    },
  };
}
