import {
  type FramingError,
  type Message,
  type OversizeFrame,
  type RequestMessage,
  wireErrors,
} from "@berth/jsonrpc-framing";
import { isObject } from "../json.js";
import { logToStderr } from "../log-to-stderr.js";
import { type Answer, encode, internalError, isOfNotification, wireError } from "../server/answer.js";
import type { Connection } from "../server/connection.js";
import { attempt, tell } from "../tell.js";
import { within } from "../within.js";
import { readMessages } from "./inbound.js";
import { readBounds } from "./limits.js";
import { checkStdioOptions, type ServeStdioOptions } from "./options.js";
import { createOutbound } from "./outbound.js";
import { guardOutput } from "./stdout-guard.js";

/** How the serving ended. */
export interface ServeStdioEnd {
  /** 0: the client ended its input, or no longer reads, or `signal` was aborted. 1: anything else. */
  readonly code: 0 | 1;
}

/**
 * Serves one client over two streams, one message a line (MCP 2025-11-25 and 2026-07-28, Transports § stdio), until it ends its input.
 * Then work under way is aborted once `endOfInputMs` are over, what it still answers within `drainMs` is sent, and the promise resolves, or the process ends. The same, but
 * without aborting what is under way before `drainMs` are over, when `signal` is aborted.
 * Never rejects for anything that a client does.
 * @throws {RangeError} for a limit out of its range, {TypeError} for an option or a limit that does not exist, an option of another kind, or a readable with an
 * encoding.
 */
export function serveStdio<P>(options: ServeStdioOptions<P>): Promise<ServeStdioEnd> {
  // One state machine over the life of a client, hence its length.
  checkStdioOptions(options);
  const { server, principal, readable = process.stdin, writable = process.stdout } = options;
  const bounds = readBounds(options.limits);
  const log = (...told: readonly [text: string, error?: unknown]): void => tell(options.logger ?? logToStderr, ...told);
  const guard = writable === process.stdout ? guardOutput(writable, () => process.stderr) : undefined;
  const waiting: RequestMessage[] = [];
  let running = 0;
  let badLines = 0;
  let isPaused = false;
  let code: 0 | 1 | undefined;
  let finishing: NodeJS.Timeout | undefined;
  let onIdle: (() => void) | undefined;

  const outbound = createOutbound(guard?.writable ?? writable, bounds, {
    onRoom: () => continueReading(),
    onGone: () => void stop(0, true),
  });
  const connection: Connection = server.openConnection({
    send(message, { droppable }) {
      if (droppable) outbound.sendIfRoom(message);
      else outbound.send(message);
      continueReading(); // a handler may have begun to wait for the client
    },
  });

  const answer = (message: Uint8Array, request: RequestMessage): void => {
    if (message.length <= bounds.maxSentFrameBytes) {
      outbound.send(message);
      return;
    }
    log(`an answer of ${message.length} bytes is over the limit of ${bounds.maxSentFrameBytes}`);
    const error = wireError(wireErrors.internal, "the answer is too large", { limit: bounds.maxSentFrameBytes });
    outbound.send(bytesOf({ id: request.id, error }));
  };
  const unexpected = (request: RequestMessage, error: unknown): void => {
    outbound.send(bytesOf({ id: request.id, error: internalError }));
    const goesOn = mayGoOn(options, error);
    const end = goesOn ? "" : "; the server stops with code 1 (see onUnexpectedError)";
    log(`unexpected error in ${request.method}${end}`, error);
    if (!goesOn) void stop(1, false);
  };
  const run = async (request: RequestMessage, signal?: AbortSignal): Promise<void> => {
    const counts = request.method !== "subscriptions/listen";
    if (counts) running += 1;
    try {
      const message = await server.handleMessage(request, { principal, connection, signal });
      if (message !== undefined) answer(Buffer.from(message.body), request);
    } catch (error) {
      unexpected(request, error);
    } finally {
      if (counts) running -= 1;
      next();
    }
  };
  const next = (): void => {
    while (running < bounds.maxInFlight && waiting.length > 0) {
      const request = waiting.shift();
      if (request !== undefined) void run(request);
    }
    if (running === 0 && waiting.length === 0) onIdle?.();
    continueReading();
  };
  const continueReading = (): void => {
    if (!isPaused || isTooMuch()) return;
    isPaused = false;
    inbound.resume();
  };
  // Handlers that wait for the client's answers need what comes next: then reading goes on, and requests are refused instead.
  const isTooMuch = (): boolean =>
    outbound.isFull || (waiting.length >= bounds.maxQueued && connection.waitingForClient === 0);
  const pauseIfFull = (): void => {
    if (isPaused || !isTooMuch()) return;
    isPaused = true;
    inbound.pause();
  };
  const onRequest = (request: RequestMessage): void => {
    if (running < bounds.maxInFlight || request.method === "subscriptions/listen") {
      void run(request);
      if (outbound.isFull) pauseIfFull();
      return;
    }
    if (waiting.length >= bounds.maxQueued && connection.waitingForClient > 0) {
      const error = wireError(wireErrors.internal, "too many requests wait", { limit: bounds.maxQueued });
      outbound.send(bytesOf({ id: request.id, error }));
      pauseIfFull(); // whoever does not read its refusals cannot have read the question either
      return;
    }
    waiting.push(request);
    pauseIfFull();
  };
  const onMessage = (message: Message): void => {
    badLines = 0;
    if (message.kind === "request") {
      onRequest(message);
      return;
    }
    const dropped = takeCancelled(message, waiting);
    if (dropped === undefined) void server.handleMessage(message, { principal, connection });
    else void run(dropped, AbortSignal.abort());
  };
  const refuse = (id: string | number | undefined, wireCode: number, text: string, limit?: number): void => {
    const error = wireError(wireCode, text, limit === undefined ? undefined : { limit });
    outbound.send(bytesOf({ id: id ?? (connection.era === "modern" ? undefined : null), error }));
    pauseIfFull();
    countBadLine();
  };
  const countBadLine = (): void => {
    badLines += 1;
    if (badLines < bounds.maxBadLines) return;
    log(`${badLines} lines in a row were no messages`);
    void stop(1, true);
  };
  const onBadLine = (fault: FramingError): void => {
    if (isOfNotification(fault)) countBadLine();
    else refuse(fault.requestId, fault.wireCode, fault.message);
  };
  const onOversize = ({ envelope }: OversizeFrame): void => {
    const id = envelope?.kind === "request" ? envelope.id : undefined;
    refuse(id, wireErrors.invalidRequest, "the message is too large", bounds.maxFrameBytes);
  };

  let resolveEnd: (end: ServeStdioEnd) => void = () => undefined;
  const ended = new Promise<ServeStdioEnd>((resolve) => {
    resolveEnd = resolve;
  });
  /** `abort` when nobody waits for the answers any more. */
  const stop = async (as: 0 | 1, abort: boolean): Promise<void> => {
    if (code !== undefined) return;
    code = as;
    clearTimeout(finishing);
    inbound.stop();
    options.signal?.removeEventListener("abort", onAbort);
    if (abort) {
      // Told as cancelled to the observers, never run.
      for (const request of waiting.splice(0)) void run(request, AbortSignal.abort());
      await connection.close();
    }
    const idle = new Promise<void>((resolve) => {
      onIdle = resolve;
    });
    if (running > 0 || waiting.length > 0) await within(bounds.drainMs, idle);
    waiting.length = 0;
    await connection.close({ farewell: !abort });
    await within(bounds.drainMs, outbound.flushed());
    await outbound.close();
    if (outbound.dropped > 0) log(`${outbound.dropped} notifications were left out: the client did not keep up`);
    guard?.release();
    const exits = options.exitProcess ?? readable === process.stdin;
    if (exits) await within(bounds.drainMs, server.close()); // tasks end with the process, and say so in their store
    resolveEnd({ code });
    if (exits) process.exit(code);
  };
  const onAbort = (): void => void stop(0, finishing !== undefined);
  /** The client asks nothing more: what it asked is finished, for so long. */
  const finish = (as: 0 | 1): void => {
    if (bounds.endOfInputMs === 0 || (running === 0 && waiting.length === 0)) return void stop(as, true);
    connection.endInput();
    finishing = setTimeout(() => void stop(as, true), bounds.endOfInputMs);
    onIdle = () => void stop(as, true);
  };
  const inbound = readMessages(readable, bounds.maxFrameBytes, {
    onMessage,
    onBadLine,
    onOversize,
    onEnd({ truncated, error }) {
      if (truncated) log("the input ended inside a message");
      if (error !== undefined) log("the input failed", error);
      finish(truncated || error !== undefined ? 1 : 0);
    },
  });
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted === true) onAbort();
  return ended;
}

/** Whoever is to decide may fail as well, or say something else, a promise included: then the server stops. */
function mayGoOn<P>({ onUnexpectedError }: ServeStdioOptions<P>, error: unknown): boolean {
  if (typeof onUnexpectedError !== "function") return onUnexpectedError === "continue";
  return (
    attempt(
      () => onUnexpectedError(error),
      () => undefined,
    ) === "continue"
  );
}

/** Takes the request that this notification cancels out of those that wait. */
function takeCancelled(message: Message, waiting: RequestMessage[]): RequestMessage | undefined {
  if (message.kind !== "notification" || message.method !== "notifications/cancelled" || waiting.length === 0)
    return undefined;
  const { params } = message;
  if (!isObject(params)) return undefined;
  const place = waiting.findIndex(({ id }) => id === params["requestId"]);
  return place < 0 ? undefined : waiting.splice(place, 1)[0];
}

function bytesOf(answer: Answer): Uint8Array {
  return Buffer.from(encode(answer).body);
}
