import type { Readable } from "node:stream";

/** What is kept of a client that speaks before it is answered, in bytes; beyond it, the client waits. */
const maxEarlyBytes = 1024 * 1024;

/** What ends the preparing. */
export interface PrepareSignals {
  /** The client is gone, or `exit`. */
  readonly signal: AbortSignal;
  /** The process is told to end. */
  readonly exit: AbortSignal;
}

/** What became of it. */
export interface Prepared<T> {
  /** Absent when it was given up. */
  readonly value?: T;
  /** The client was gone, or `exit` came, before it was done: nobody is left to be served. */
  readonly isOver: boolean;
}

/**
 * Does something before a client is served, and gives up when the client is gone meanwhile: a first use may take seconds,
 * and the end of a stream that nobody reads is not seen. What came early is put back for the reader that follows.
 */
export async function prepareFor<T>(
  client: Readable,
  exit: AbortSignal,
  prepare: (signals: PrepareSignals) => Promise<T>,
): Promise<Prepared<T>> {
  const gone = new AbortController();
  const signal = AbortSignal.any([exit, gone.signal]);
  const early: Buffer[] = [];
  let earlyBytes = 0;
  const keep = (chunk: Buffer): void => {
    early.push(chunk);
    earlyBytes += chunk.byteLength;
    if (earlyBytes > maxEarlyBytes) client.pause();
  };
  const onGone = (): void => gone.abort(new Error("the client is gone"));
  const events = [
    ["end", onGone],
    ["error", onGone],
  ] as const;
  client.on("data", keep);
  for (const [name, listener] of events) client.once(name, listener);
  try {
    const value = await prepare({ signal, exit });
    return { value, isOver: signal.aborted };
  } catch (error) {
    if (signal.aborted) return { isOver: true };
    throw error;
  } finally {
    client.pause();
    client.off("data", keep);
    for (const [name, listener] of events) client.off(name, listener);
    if (earlyBytes > 0 && !client.readableEnded) client.unshift(Buffer.concat(early));
  }
}
