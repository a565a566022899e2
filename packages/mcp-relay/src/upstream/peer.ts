import {
  type Envelope,
  isFramingError,
  type OversizeFrame,
  type Scheduler,
  scanEnvelope,
  wireErrors,
} from "@berth/jsonrpc-framing";
import { isStdioTransportError } from "@berth/stdio-transport";
import type { UpstreamConnection } from "../connection.js";
import type { RelayNotice, UpstreamFault } from "../relay-options.js";
import type { BadLinePolicy } from "../server-policy.js";
import { encodeText, errorFrame, notificationFrame } from "../translate.js";
import { excerptOf, visibleText } from "../visible-text.js";
import { type RelayFault, upstreamGone } from "../wire-errors.js";
import { createPendingRequests, type PendingRequest } from "./pending.js";

/** Members of a child's `params` that the relay looks at. */
const wantedMembers = ["progressToken", "requestId", "_meta", "task"];
/** How long the failing of pending calls waits for the exit status, so that their error can name it. */
const exitStatusMs = 500;

/** Who is told what a child says and how it ends. */
export interface PeerOptions {
  readonly server: string;
  readonly connection: UpstreamConnection;
  readonly onBadLine: BadLinePolicy;
  readonly scheduler: Scheduler;
  onRequest(frame: Uint8Array, envelope: Envelope): void;
  onNotification(frame: Uint8Array, envelope: Envelope): void;
  onFault(fault: UpstreamFault): void;
  onNotice(notice: RelayNotice): void;
  /** Called once, when it can answer nothing any more and before pending requests are settled. */
  onGone(reason: string): void;
}

/** One live child as a JSON-RPC peer: requests get ids and deadlines, answers are matched, faults end it. */
export interface Peer {
  /** Sends a request and waits for its answer; `build` makes its bytes from the id. Settles at once when the child is gone. */
  call(build: (id: number) => Uint8Array, request: PendingRequest): number;
  send(frame: Uint8Array): void;
  /** Starts the deadline of a request again. */
  touch(id: number): void;
  /** Gives a request up: its answer will be dropped quietly. False when it was answered already. */
  forget(id: number): boolean;
  /** Ends the child; pending requests get this fault. */
  end(fault: RelayFault): void;
  /** Stops and starts the reading of its output. */
  pause(paused: boolean): void;
  readonly gone: boolean;
  readonly pendingRequests: number;
  /** Lines dropped under `quarantine`. */
  readonly droppedLines: number;
  /** Settles when the child is gone and its pending requests are settled; never rejects. */
  readonly finished: Promise<void>;
}

/** Starts the connection's transport. Nothing is sent before the first `call` or `send`. */
export function createPeer(options: PeerOptions): Peer {
  const { server, connection, scheduler } = options;
  const { transport } = connection;
  let gone = false;
  let droppedLines = 0;
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });

  const pending = createPendingRequests(scheduler, (id, request) => {
    send(notificationFrame("notifications/cancelled", `{"requestId":${id},"reason":"no answer in time"}`));
    const waited = `silent for ${request.waits.silenceMs} ms, or ${request.waits.totalMs} ms in all`;
    request.settle({ kind: "fault", fault: upstreamGone(server, "CALL_TIMEOUT", waited) });
  });

  const lose = async (reason: string, cause: Promise<RelayFault>): Promise<void> => {
    if (gone) return;
    gone = true;
    try {
      options.onGone(reason);
    } finally {
      const fault = await cause;
      for (const request of pending.takeAll()) request.settle({ kind: "fault", fault });
      await connection.close().catch((error: unknown) => notice("CHILD_NOT_ENDED", textOf(error)));
      finish();
    }
  };

  const end = (fault: RelayFault): void => {
    void lose(fault.parts.reason, Promise.resolve(fault));
  };

  const notice = (code: string, message: string): void =>
    options.onNotice({ code, server, message: visibleText(message) });

  const badLine = (fault: BadLine, policy: BadLinePolicy = options.onBadLine): void => {
    const action = policy === "fatal" ? "ended" : "dropped";
    if (action === "dropped") droppedLines += 1;
    const { code, message, offset, bytes } = fault;
    options.onFault({ server, code, message: visibleText(message), offset, excerpt: excerptOf(bytes), action });
    if (action === "ended") end(upstreamGone(server, "CHILD_DESYNCHRONIZED"));
  };

  /** The request that an answer with this id settles, if there is one to settle. */
  const answered = (id: string | number, offset: number, bytes: Uint8Array): PendingRequest | undefined => {
    const request = pending.take(id);
    if (request === "unknown") {
      const message = `response to id ${JSON.stringify(id)}, which was never issued`;
      badLine({ code: "FOREIGN_RESPONSE", message, offset, bytes }, "fatal");
    }
    return typeof request === "string" ? undefined : request;
  };

  const onFrame = (bytes: Uint8Array, offset: number): void => {
    const envelope = scanEnvelope(bytes, wantedMembers, { grammar: "full" });
    const { kind, id } = envelope;
    if (kind === "request") options.onRequest(bytes, envelope);
    else if (kind === "notification") options.onNotification(bytes, envelope);
    else if (id === undefined) notice("ERROR_WITHOUT_ID", excerptOf(bytes));
    else answered(id.value, offset, bytes)?.settle({ kind, frame: bytes, envelope });
  };

  const onOversize = ({ offset, byteLength, head, envelope }: OversizeFrame): void => {
    const message = `a message of ${byteLength} bytes is over the limit`;
    if (envelope === undefined) badLine({ code: "FRAME_TOO_LARGE", message, offset, bytes: head });
    else notice("FRAME_TOO_LARGE", message);
    if (envelope?.id === undefined) return;
    if (envelope.kind === "request") {
      send(errorFrame(encodeText(JSON.stringify(envelope.id)), { code: wireErrors.invalidRequest, message }));
    } else {
      const fault = upstreamGone(server, "FRAME_TOO_LARGE", `${byteLength} bytes`);
      answered(envelope.id, offset, head)?.settle({ kind: "fault", fault });
    }
  };

  const send = (frame: Uint8Array): void => {
    if (!gone) transport.send(frame).catch((error: unknown) => notice("NOT_SENT", textOf(error)));
  };

  const call = (build: (id: number) => Uint8Array, request: PendingRequest): number => {
    const id = pending.add(request);
    const fail = (fault: RelayFault): void => {
      const waiting = pending.take(id);
      if (typeof waiting !== "string") waiting.settle({ kind: "fault", fault });
    };
    const frame = build(id);
    if (gone) fail(upstreamGone(server, "CHILD_EXITED"));
    else {
      transport.send(frame).catch((error: unknown) => {
        // A closed transport tells of the child's end by onClose, which settles with the exit status.
        if (!isStdioTransportError(error) || error.code === "TRANSPORT_CLOSED") return;
        fail(upstreamGone(server, error.code === "QUEUE_FULL" ? "QUEUE_FULL" : "FRAME_TOO_LARGE"));
      });
    }
    return id;
  };

  transport.start({
    onFrame({ bytes, offset }) {
      if (gone) return;
      try {
        onFrame(bytes, offset);
      } catch (error) {
        if (!isFramingError(error)) throw error;
        badLine({ code: error.code, message: error.message, offset, bytes });
      }
    },
    onOversize(frame) {
      if (!gone) onOversize(frame);
    },
    onFault({ code, message, offset = 0 }, frame) {
      // A line that ends with the stream is a child that died while it wrote: its exit is what there is to say.
      if (gone || code === "STREAM_TRUNCATED") return;
      badLine({ code, message, offset: frame?.offset ?? offset, bytes: frame?.bytes ?? new Uint8Array() });
    },
    onClose() {
      void lose("CHILD_EXITED", exitFault(server, connection, scheduler));
    },
  });

  return {
    call,
    send,
    end,
    finished,
    touch: (id) => pending.touch(id),
    forget: (id) => typeof pending.take(id) !== "string",
    pause: (paused) => (paused ? transport.pause() : transport.resume()),
    get gone() {
      return gone;
    },
    get pendingRequests() {
      return pending.size;
    },
    get droppedLines() {
      return droppedLines;
    },
  };
}

interface BadLine {
  readonly code: string;
  readonly message: string;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** CHILD_EXITED with the exit status when it comes soon enough: stdout ends a little before the process is reaped. */
function exitFault(server: string, connection: UpstreamConnection, scheduler: Scheduler): Promise<RelayFault> {
  return new Promise((resolve) => {
    const timer = scheduler.after(exitStatusMs, () => resolve(upstreamGone(server, "CHILD_EXITED")));
    void connection.exited.then(({ code, signal }) => {
      timer.cancel();
      const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
      const stderrBytes = connection.stderrBytes?.();
      const detail = stderrBytes === undefined ? how : `${how}, ${stderrBytes} bytes on stderr`;
      const data = { exitCode: code ?? undefined, signal: signal ?? undefined, stderrBytes };
      resolve(upstreamGone(server, "CHILD_EXITED", detail, data));
    });
  });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
