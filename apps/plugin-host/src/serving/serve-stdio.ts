import { PassThrough, Readable, type Writable } from "node:stream";
import { untilAborted } from "@berth/command-line";
import { type Message, type RequestId, wireErrors } from "@berth/jsonrpc-framing";
import { createStreamTransport, isStdioTransportError, type Transport } from "@berth/stdio-transport";
import { type Answer, answerRequest, errorAnswer, readFrame } from "../rpc/answer.js";
import type { HostMethods } from "../rpc/methods.js";
import { hostErrors } from "../rpc/wire-error.js";

export interface ServeStdioOptions {
  readonly methods: HostMethods;
  readonly readable: Readable;
  readonly writable: Writable;
  /** Ends the serving at once; what is under way is answered with an error. */
  readonly signal: AbortSignal;
  readonly onFault: (fault: unknown) => void;
}

/** Requests under way at once; one more is answered with an error. */
const maxRequests = 256;
/** Of one message, in and out. */
const maxFrameBytes = 16 * 1024 * 1024;
/** How long requests that are under way may take once the client has ended its input. */
const drainMs = 60_000;
/** How long answers may take to leave once all is over: a client need not read. */
const leaveMs = 5_000;
/** Answers that are made or that the client has not taken; above, nothing more is read from it. */
const maxPending = 512;

const bounds = { maxFrameBytes, unterminated: "accept" } as const;

const asker = { principal: "local", door: "stdio" } as const;

/** Answers JSON-RPC requests, one message a line, until the client ends its input. */
export async function serveStdio({ methods, readable, writable, signal, onFault }: ServeStdioOptions): Promise<void> {
  // Halves: the end of the client's input must not keep answers that are due from leaving.
  const inbound = createStreamTransport({ readable, writable: new PassThrough(), ...bounds });
  const outbound = createStreamTransport({ readable: new Readable({ read: () => undefined }), writable, ...bounds });
  outbound.start({ onFrame: () => {}, onFault: () => {}, onClose: () => {} });
  const running = new Map<RequestId, AbortController>();
  const pending = new Set<Promise<void>>();
  let last: Promise<void> = Promise.resolve();
  // One after the other: together they could be more than what may wait, and one of them would be lost.
  const send = (answer: Answer): Promise<void> => {
    const sent = last.then(() => sendAnswer(outbound, answer, onFault));
    last = sent.catch(() => {}); // told to who sends
    return sent;
  };

  const run = async (request: Extract<Message, { readonly kind: "request" }>): Promise<void> => {
    if (running.has(request.id)) {
      return send(
        errorAnswer(request.id, { code: wireErrors.invalidRequest, message: "this id is that of a request under way" }),
      );
    }
    if (running.size >= maxRequests) {
      return send(
        errorAnswer(request.id, { code: hostErrors.busy, message: `${maxRequests} requests are under way already` }),
      );
    }
    const ending = new AbortController();
    running.set(request.id, ending);
    try {
      const both = AbortSignal.any([ending.signal, signal]);
      const answer = await answerRequest(methods, asker, request, { signal: both, onFault });
      await send(ending.signal.aborted ? errorAnswer(request.id, cancelled) : answer);
    } finally {
      running.delete(request.id);
    }
  };
  const begin = (work: Promise<void>): void => {
    pending.add(work);
    if (pending.size >= maxPending) inbound.pause();
    void work.catch(onFault).finally(() => {
      pending.delete(work);
      if (pending.size === maxPending - 1) inbound.resume();
    });
  };
  const take = (frame: Uint8Array): void => {
    const message = readFrame(frame);
    if (!("kind" in message)) begin(send(message));
    else if (message.kind === "request") begin(run(message));
    else if (message.kind === "notification") cancel(message, running);
    // An answer: nothing was asked.
  };
  inbound.start({
    onFrame: ({ bytes }) => take(bytes),
    onFault: (fault, frame) => {
      if (frame !== undefined) take(frame.bytes);
      else begin(send(errorAnswer(null, { code: wireErrors.parse, message: fault.message })));
    },
    onOversize: ({ envelope, byteLength }) => {
      const message = `a message of ${byteLength} bytes is over ${maxFrameBytes}`;
      if (envelope?.kind !== "notification")
        begin(send(errorAnswer(envelope?.id ?? null, { code: wireErrors.invalidRequest, message })));
    },
    onClose: () => {},
  });
  await Promise.race([inbound.closed, outbound.closed, untilAborted(signal)]);
  await inbound.close(); // else a client that goes on asking would keep this from ending
  await settle({ pending, running, signal, outbound });
  await outbound.close();
}

const cancelled = { code: hostErrors.cancelled, message: "the client took this request back" } as const;

interface UnderWay {
  readonly pending: ReadonlySet<Promise<void>>;
  readonly running: ReadonlyMap<RequestId, AbortController>;
  readonly signal: AbortSignal;
  readonly outbound: Transport;
}

/** Waits for what is under way, then takes it back, and then no longer for a client that does not read. */
async function settle({ pending, running, signal, outbound }: UnderWay): Promise<void> {
  let leaving: NodeJS.Timeout | undefined;
  // What runs is ended by `signal` itself.
  const onEnd = (): void => {
    leaving ??= setTimeout(() => void outbound.close(), leaveMs);
  };
  const late = setTimeout(() => {
    for (const ending of running.values()) ending.abort(new Error("the client has ended its input"));
    onEnd();
  }, drainMs);
  if (signal.aborted) onEnd();
  else signal.addEventListener("abort", onEnd, { once: true });
  while (pending.size > 0) await Promise.allSettled(pending);
  signal.removeEventListener("abort", onEnd);
  clearTimeout(late);
  clearTimeout(leaving);
}

/** `$/cancelRequest`, as language servers have it: the answer is then an error. */
function cancel(
  { method, params }: Extract<Message, { readonly kind: "notification" }>,
  running: ReadonlyMap<RequestId, AbortController>,
): void {
  if (method !== "$/cancelRequest" || params === undefined || !("id" in params)) return;
  const { id } = params;
  if (typeof id === "string" || typeof id === "number") running.get(id)?.abort(new Error("cancelled"));
}

async function sendAnswer(transport: Transport, answer: Answer, onFault: (fault: unknown) => void): Promise<void> {
  try {
    await transport.send(Buffer.from(JSON.stringify(answer)));
  } catch (error) {
    if (!isStdioTransportError(error)) throw error;
    if (error.code === "TRANSPORT_CLOSED") return; // nobody reads any more
    if (error.code !== "FRAME_TOO_LARGE") return onFault(error);
    const message = `the answer is over ${maxFrameBytes} bytes`;
    await sendAnswer(transport, errorAnswer(answer.id, { code: wireErrors.internal, message }), onFault);
  }
}
