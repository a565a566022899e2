import { randomBytes } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import type { GuestBounds } from "./guest-limits.js";
import { GuestStream } from "./guest-stream.js";

/** A stream that the agent is about to connect. */
export interface ExpectedStream {
  /** What it begins with: 32 hexadecimal digits, used once. */
  readonly token: string;
  /** Never rejects; stays pending when it is cancelled before. */
  readonly connected: Promise<GuestStream>;
  /** Nobody wants it any more: it is cut off when it comes, or came. */
  cancel(): void;
}

/** Where the agent connects the streams of processes. Everything inside can connect here too. */
export interface DialListener extends AsyncDisposable {
  expect(): ExpectedStream;
  /** Calls once, when more streams were refused than a mistake explains. */
  onFlood(listener: () => void): void;
  /** Cuts off every stream, also those that were handed out, and removes the socket. */
  close(): Promise<void>;
}

export interface DialOptions {
  /** Path of the socket to make. */
  readonly path: string;
  readonly bounds: Pick<GuestBounds, "maxPendingStreams" | "streamTimeoutMs" | "maxRefusedStreams">;
}

const tokenLength = 32;
const maxCancelled = 1024;

/** Listens on a unix socket for streams that begin with a token. */
export async function listenForDials(options: DialOptions): Promise<DialListener> {
  const tokens: Tokens = { expected: new Map(), cancelled: new Set() };
  const streams = new Set<Socket>();
  const flood: { listener?: () => void } = {};
  const refuse = countRefusals(options.bounds.maxRefusedStreams, flood);
  let pending = 0;
  const accept = (stream: Socket): void => {
    streams.add(stream);
    // What a dying guest does to its end is told by `close`, which follows.
    stream.on("error", () => {});
    stream.once("close", () => streams.delete(stream));
    if (pending >= options.bounds.maxPendingStreams) {
      refuse(stream);
      return;
    }
    pending += 1;
    readToken(stream, options.bounds.streamTimeoutMs, (token) => {
      pending -= 1;
      const claim = token === undefined ? undefined : takeToken(tokens, token);
      if (claim === undefined) refuse(stream);
      else claim(stream);
    });
  };
  const server = createServer({ allowHalfOpen: true }, accept);
  await listen(server, options.path);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeAll(server, streams));
  return {
    expect: () => expectStream(tokens),
    onFlood: (listener) => {
      flood.listener = listener;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What to do with the stream that brought a token; undefined for one that was never given out, or was used. */
function takeToken({ expected, cancelled }: Tokens, token: string): ((stream: Socket) => void) | undefined {
  const claim = expected.get(token);
  expected.delete(token);
  if (claim !== undefined) return (stream) => claim(new GuestStream(stream));
  return cancelled.delete(token) ? (stream) => stream.destroy() : undefined;
}

/** Tokens that were given out. */
interface Tokens {
  readonly expected: Map<string, (stream: GuestStream) => void>;
  /** Of starts that failed: the agent may have dialled before it told so, which is no fault of anybody inside. */
  readonly cancelled: Set<string>;
}

function expectStream({ expected, cancelled }: Tokens): ExpectedStream {
  const token = randomBytes(tokenLength / 2).toString("hex");
  let connectedStream: GuestStream | undefined;
  const connected = new Promise<GuestStream>((resolve) => {
    expected.set(token, (stream) => {
      connectedStream = stream;
      resolve(stream);
    });
  });
  const cancel = (): void => {
    connectedStream?.destroy();
    if (!expected.delete(token)) return;
    cancelled.add(token);
    const [oldest] = cancelled;
    if (cancelled.size > maxCancelled && oldest !== undefined) cancelled.delete(oldest);
  };
  return { token, connected, cancel };
}

function countRefusals(max: number, flood: { listener?: () => void }): (stream: Socket) => void {
  let refused = 0;
  return (stream) => {
    stream.destroy();
    refused += 1;
    if (refused === max) flood.listener?.();
  };
}

/** Tells the token once, or undefined for a stream that ends or is silent before; what follows it stays in the stream. */
function readToken(stream: Socket, timeoutMs: number, tell: (token: string | undefined) => void): void {
  const finish = (token: string | undefined): void => {
    clearTimeout(timer);
    stream.off("readable", onReadable).off("close", onEnd).off("end", onEnd);
    tell(token);
  };
  const onReadable = (): void => {
    const bytes: Buffer | null = stream.read(tokenLength);
    if (bytes === null) return;
    // A shorter answer is what a stream had when it ended.
    finish(bytes.length === tokenLength ? bytes.toString("latin1") : undefined);
  };
  const onEnd = (): void => finish(undefined);
  const timer = setTimeout(onEnd, timeoutMs);
  timer.unref();
  stream.on("readable", onReadable).once("close", onEnd).once("end", onEnd);
}

async function listen(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      // Running out of descriptors while accepting: the guest's stream is lost, and its start times out.
      server.on("error", () => {});
      resolve();
    });
  });
  server.unref();
}

async function closeAll(server: Server, streams: ReadonlySet<Socket>): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    for (const stream of streams) stream.destroy();
  });
}
