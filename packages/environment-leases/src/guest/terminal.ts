import type { Duplex } from "node:stream";
import type { TerminalChannel } from "../environment.js";
import { LeaseError } from "../errors.js";

const defaultReadBytes = 65_536;
const maxWriteBytes = 65_536;
/** What may wait to be written when callers stop waiting for their writes. */
const maxWaitingBytes = 1024 * 1024;
const maxSize = 1000;

/** A terminal that was started. */
export interface StartedTerminal {
  readonly stream: Duplex;
  /** Ends everything in it. */
  kill(): Promise<void>;
  resize(columns: number, rows: number): void;
}

/** A terminal as its user holds it: bounded reads and writes. */
export function terminalChannel({ stream, kill, resize }: StartedTerminal): TerminalChannel {
  let closing: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await kill();
    stream.destroy();
  };
  const close = (): Promise<void> => (closing ??= end());
  return {
    read: ({ maxBytes = defaultReadBytes, signal } = {}) => readChunk(stream, readSize(maxBytes), signal),
    write: (bytes, { signal } = {}) => writeChunk(stream, bytes, signal),
    resize: (columns, rows) => resize(readCells("columns", columns), readCells("rows", rows)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function readChunk(stream: Duplex, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array> {
  for (;;) {
    signal?.throwIfAborted();
    const chunk: Buffer | null = stream.read(Math.min(maxBytes, stream.readableLength) || undefined);
    if (chunk !== null) return chunk;
    if (stream.readableEnded || stream.destroyed) return new Uint8Array();
    await nextOf(stream, ["readable", "end", "close"], signal);
  }
}

async function writeChunk(stream: Duplex, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (bytes.length > maxWriteBytes)
    throw tooLarge(`${bytes.length} bytes in one write, at most ${maxWriteBytes} are taken`);
  if (!stream.writable) throw new LeaseError("ENVIRONMENT_ENDED", "the terminal has ended");
  if (stream.writableLength > maxWaitingBytes)
    throw tooLarge(`${stream.writableLength} bytes wait to be read by the terminal`);
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    // A copy, since the caller may use the bytes again once the call was aborted.
    stream.write(Buffer.from(bytes), (error) => {
      signal?.removeEventListener("abort", onAbort);
      if (error == null) resolve();
      else reject(new LeaseError("ENVIRONMENT_ENDED", "the terminal has ended", { cause: error }));
    });
  });
}

async function nextOf(stream: Duplex, events: readonly string[], signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      for (const event of events) stream.off(event, onEvent);
      signal?.removeEventListener("abort", onAbort);
    };
    const onEvent = (): void => {
      stop();
      resolve();
    };
    const onAbort = (): void => {
      stop();
      reject(signal?.reason);
    };
    for (const event of events) stream.on(event, onEvent);
    signal?.addEventListener("abort", onAbort);
  });
}

function readSize(maxBytes: number): number {
  if (Number.isInteger(maxBytes) && maxBytes >= 1) return Math.min(maxBytes, 16 * 1024 * 1024);
  throw new LeaseError("OPTION_INVALID", `maxBytes must be a whole number of at least 1, was ${maxBytes}`);
}

function readCells(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= maxSize) return value;
  throw new LeaseError("OPTION_INVALID", `${name} must be a whole number from 1 to ${maxSize}, was ${value}`);
}

function tooLarge(what: string): LeaseError {
  return new LeaseError("INPUT_TOO_LARGE", what);
}
