import type { Envelope, Scheduler } from "@berth/jsonrpc-framing";
import { isStdioTransportError, type Transport } from "@berth/stdio-transport";
import type { UpstreamConnection } from "../connection.js";
import { createEraTransport } from "../modern/era-transport.js";
import type { RelayNotice, UpstreamFault } from "../relay-options.js";
import type { BadLinePolicy } from "../server-policy.js";
import { notificationFrame } from "../translate.js";
import { visibleText } from "../visible-text.js";
import { type GoneReason, type RelayFault, upstreamGone } from "../wire-errors.js";
import { exitFault } from "./exit-fault.js";
import { createIntake, type Intake } from "./intake.js";
import { createPeerLife, type PeerLife } from "./peer-life.js";
import { createPendingRequests, type PendingRequest, type PendingRequests } from "./pending.js";

/** Who is told what a child says and how it ends. */
export interface PeerOptions {
  readonly server: string;
  readonly connection: UpstreamConnection;
  readonly onBadLine: BadLinePolicy;
  readonly scheduler: Scheduler;
  onRequest(frame: Uint8Array, envelope: Envelope): void;
  onNotification(frame: Uint8Array, envelope: Envelope): void;
  onFault(fault: Omit<UpstreamFault, "count">): void;
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

/** Starts the connection's transport. Nothing is sent before the first `call` or `send`. Two states: it lives, then it is gone. */
export function createPeer(options: PeerOptions): Peer {
  const { server, connection, scheduler } = options;
  const transport = createEraTransport(connection.transport, { server, scheduler });
  const notice = (code: string, error: unknown): void =>
    options.onNotice({ code, server, message: visibleText(error instanceof Error ? error.message : String(error)) });
  const pending = createPendingRequests(scheduler, (id, request) => {
    send(notificationFrame("notifications/cancelled", `{"requestId":${id},"reason":"no answer in time"}`));
    request.settle({ kind: "fault", fault: timeoutFault(server, request) });
  });
  const life = createPeerLife({
    connection,
    pending,
    onGone: (reason) => options.onGone(reason),
    onNotEnded: (error) => notice("CHILD_NOT_ENDED", error),
  });
  const send = (frame: Uint8Array): void => {
    if (!life.gone) transport.send(frame).catch((error: unknown) => notice("NOT_SENT", error));
  };
  const end = (fault: RelayFault): void => life.lose(fault.parts.reason, () => fault);
  const intake = createIntake({
    ...options,
    send,
    onDesynchronized: () => end(upstreamGone(server, "CHILD_DESYNCHRONIZED")),
    onAnswer(id, answer) {
      const request = pending.take(id);
      if (typeof request !== "string") request.settle(answer);
      return request !== "unknown";
    },
  });
  listen(transport, intake, life, () => exitFault(server, connection, scheduler));

  return {
    call: calling(server, transport, pending, life),
    send,
    end,
    finished: life.finished,
    touch: (id) => pending.touch(id),
    forget: (id) => typeof pending.take(id) !== "string",
    pause: (paused) => (paused ? transport.pause() : transport.resume()),
    get gone() {
      return life.gone;
    },
    get pendingRequests() {
      return pending.size;
    },
    get droppedLines() {
      return intake.droppedLines;
    },
  };
}

/** Sends requests. One that the transport does not take is failed alone. */
function calling(server: string, transport: Transport, pending: PendingRequests, life: PeerLife): Peer["call"] {
  const fail = (id: number, reason: GoneReason): void => {
    const waiting = pending.take(id);
    if (typeof waiting !== "string") waiting.settle({ kind: "fault", fault: upstreamGone(server, reason) });
  };
  return (build, request) => {
    const id = pending.add(request);
    const frame = build(id);
    if (life.gone) fail(id, "CHILD_EXITED");
    else {
      transport.send(frame).catch((error: unknown) => {
        // A closed transport tells of the child's end by onClose, which settles with the exit status.
        if (!isStdioTransportError(error) || error.code === "TRANSPORT_CLOSED") return;
        fail(id, error.code === "QUEUE_FULL" ? "QUEUE_FULL" : "FRAME_TOO_LARGE");
      });
    }
    return id;
  };
}

/** What is still on the way when the child was given up is not looked at. */
function listen(transport: Transport, intake: Intake, life: PeerLife, exited: () => Promise<RelayFault>): void {
  transport.start({
    onFrame: (frame) => life.gone || intake.frame(frame),
    onOversize: (frame) => life.gone || intake.oversize(frame),
    onFault: (fault, frame) => life.gone || intake.fault(fault, frame),
    onClose: () => life.lose("CHILD_EXITED", exited),
  });
}

function timeoutFault(server: string, { waits }: PendingRequest): RelayFault {
  const waited = `silent for ${waits.silenceMs} ms, or ${waits.totalMs} ms in all`;
  return upstreamGone(server, "CALL_TIMEOUT", waited);
}
