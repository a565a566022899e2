import type { Envelope, Scheduler } from "@berth/jsonrpc-framing";
import { isStdioTransportError } from "@berth/stdio-transport";
import type { UpstreamConnection } from "../connection.js";
import type { RelayNotice, UpstreamFault } from "../relay-options.js";
import type { BadLinePolicy } from "../server-policy.js";
import { notificationFrame } from "../translate.js";
import { visibleText } from "../visible-text.js";
import { type GoneReason, type RelayFault, upstreamGone } from "../wire-errors.js";
import { createIntake } from "./intake.js";
import { createPendingRequests, type PendingRequest } from "./pending.js";

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
  const { transport } = connection;
  let gone = false;
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const notice = (code: string, error: unknown): void =>
    options.onNotice({ code, server, message: visibleText(error instanceof Error ? error.message : String(error)) });

  const pending = createPendingRequests(scheduler, (id, request) => {
    send(notificationFrame("notifications/cancelled", `{"requestId":${id},"reason":"no answer in time"}`));
    const waited = `silent for ${request.waits.silenceMs} ms, or ${request.waits.totalMs} ms in all`;
    request.settle({ kind: "fault", fault: upstreamGone(server, "CALL_TIMEOUT", waited) });
  });

  const lose = async (reason: string, cause: () => RelayFault | Promise<RelayFault>): Promise<void> => {
    if (gone) return;
    gone = true;
    try {
      options.onGone(reason);
    } finally {
      const fault = await cause();
      for (const request of pending.takeAll()) request.settle({ kind: "fault", fault });
      await connection.close().catch((error: unknown) => notice("CHILD_NOT_ENDED", error));
      finish();
    }
  };

  const end = (fault: RelayFault): void => {
    void lose(fault.parts.reason, () => fault);
  };

  const send = (frame: Uint8Array): void => {
    if (!gone) transport.send(frame).catch((error: unknown) => notice("NOT_SENT", error));
  };

  const fail = (id: number, reason: GoneReason): void => {
    const waiting = pending.take(id);
    if (typeof waiting !== "string") waiting.settle({ kind: "fault", fault: upstreamGone(server, reason) });
  };

  const call = (build: (id: number) => Uint8Array, request: PendingRequest): number => {
    const id = pending.add(request);
    const frame = build(id);
    if (gone) fail(id, "CHILD_EXITED");
    else {
      transport.send(frame).catch((error: unknown) => {
        // A closed transport tells of the child's end by onClose, which settles with the exit status.
        if (!isStdioTransportError(error) || error.code === "TRANSPORT_CLOSED") return;
        fail(id, error.code === "QUEUE_FULL" ? "QUEUE_FULL" : "FRAME_TOO_LARGE");
      });
    }
    return id;
  };

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
  // What is still on the way when the child was given up is not looked at.
  transport.start({
    onFrame: (frame) => gone || intake.frame(frame),
    onOversize: (frame) => gone || intake.oversize(frame),
    onFault: (fault, frame) => gone || intake.fault(fault, frame),
    onClose: () => void lose("CHILD_EXITED", () => exitFault(server, connection, scheduler)),
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
      return intake.droppedLines;
    },
  };
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
