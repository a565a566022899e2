import type { Duplex } from "node:stream";
import { type JsonObject, type JsonValue, type Message, parseMessage } from "@berth/jsonrpc-framing";
import { createStreamTransport } from "@berth/stdio-transport/streams";
import { readObject, WireFault } from "./wire.js";

/** What the worker refused, with its reason: a code of its own protocol. */
export class WorkerRefusal extends Error {
  override readonly name = "WorkerRefusal";
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The channel ended before an answer came. */
export class ChannelEnded extends Error {
  override readonly name = "ChannelEnded";
}

export interface ChannelOptions {
  readonly stream: Duplex;
  readonly maxFrameBytes: number;
  /** Throws a WireFault for what is never said. */
  readonly onSaid: (method: string, params: JsonObject) => void;
  /** Once: the peer ended the stream (`undefined`), or spoke otherwise than the worker does. */
  readonly onEnd: (fault: string | undefined) => void;
}

/** Requests and answers with one worker. Everything that comes back is an attacker's. */
export interface WorkerChannel {
  /**
   * Sends a request. The answer rejects with WorkerRefusal, or with ChannelEnded once the channel has ended; what was
   * sent and not answered may have been done.
   */
  ask(method: string, params: JsonObject): { readonly id: number; readonly answer: Promise<JsonValue> };
  tell(method: string, params: JsonObject): void;
  close(): void;
}

interface Waiting {
  readonly resolve: (result: JsonValue) => void;
  readonly reject: (cause: Error) => void;
}

/** The host sends one piece of code and pieces of files: what waits is bounded by who asks. */
const maxQueuedBytes = 268_435_456;
const lineFeed = 0x0a;
const openBrace = 0x7b;

export function createWorkerChannel({ stream, maxFrameBytes, onSaid, onEnd }: ChannelOptions): WorkerChannel {
  const transport = createStreamTransport({
    readable: stream,
    writable: stream,
    maxFrameBytes: 67_108_864,
    maxQueuedBytes,
    // Each request is waited for: the worker begins while the rest of this tick is done.
    eagerBytes: 0,
    oversize: "fail",
  });
  const waiting = new Map<number, Waiting>();
  let nextId = 1;
  let ended = false;
  let silentBytes = 0;
  let atLineStart = true;

  const end = (fault: string | undefined): void => {
    if (ended) return;
    ended = true;
    stream.off("data", onBytes);
    for (const { reject } of waiting.values()) reject(new ChannelEnded(fault ?? "the worker's channel ended"));
    waiting.clear();
    void transport.close();
    onEnd(fault);
  };
  const onBytes = (chunk: Buffer): void => {
    silentBytes += chunk.length;
    // Asked before lines are cut: millions of empty ones would keep the whole host busy.
    const isOdd = (atLineStart && chunk[0] !== openBrace) || hasOddLine(chunk);
    atLineStart = chunk[chunk.length - 1] === lineFeed;
    if (isOdd) end("a line that is no frame");
    else if (silentBytes > maxFrameBytes + 65_536) end(`over ${maxFrameBytes} bytes came without a frame`);
  };
  const answered = (id: string | number | undefined): Waiting => {
    const known = typeof id === "number" ? waiting.get(id) : undefined;
    if (known === undefined || typeof id !== "number") throw new WireFault("an answer to what was never asked");
    waiting.delete(id);
    return known;
  };
  const take = (message: Message): void => {
    if (message.kind === "response") {
      answered(message.id).resolve(message.result);
    } else if (message.kind === "error") {
      const reason = readObject(message.error.data)["reason"];
      answered(message.id).reject(new WorkerRefusal(String(reason), message.error.message.toWellFormed()));
    } else if (message.kind === "notification") {
      onSaid(message.method, readObject(message.params));
    } else {
      throw new WireFault("the worker asks nothing");
    }
  };
  stream.on("data", onBytes); // before the transport's own listener
  transport.start({
    onFrame({ bytes }) {
      if (ended) return;
      silentBytes = 0;
      try {
        if (bytes.length > maxFrameBytes) throw new WireFault(`a frame of ${bytes.length} bytes`);
        take(parseMessage(bytes, { maxDepth: 8 }));
      } catch (error) {
        end(error instanceof Error ? error.message : String(error));
      }
    },
    onFault: (fault) => end(fault.message),
    onClose: () => end(undefined),
  });

  const send = (message: JsonObject): void => {
    // What was not sent is not answered: the end of the channel is told by its other side.
    transport.send(Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }))).catch(() => undefined);
  };
  return {
    ask(method, params) {
      const id = nextId;
      nextId += 1;
      const answer = new Promise<JsonValue>((resolve, reject) => {
        if (ended) reject(new ChannelEnded("the worker's channel has ended"));
        else waiting.set(id, { resolve, reject });
      });
      if (!ended) send({ id, method, params });
      return { id, answer };
    },
    tell: (method, params) => send({ method, params }),
    close: () => end(undefined),
  };
}

/** Whether a line begins in it with anything but an object. */
function hasOddLine(chunk: Buffer): boolean {
  let feed = chunk.indexOf(lineFeed);
  while (feed !== -1 && feed + 1 < chunk.length) {
    if (chunk[feed + 1] !== openBrace) return true;
    feed = chunk.indexOf(lineFeed, feed + 1);
  }
  return false;
}
