import type { Readable } from "node:stream";
import { createGate } from "../waits/gate.js";

/** What the first process inside says on its end of the handshake. */
export interface ReadyStream {
  /** Whether it said that it is there; false when the stream ended first. */
  readonly ready: Promise<boolean>;
  /** The start script's status when the command could not be executed; undefined when the stream ended without one. */
  readonly failure: Promise<number | undefined>;
  /** Resolves when nobody can write to it any more. Before the host's word, every process of the sandbox can. */
  readonly closed: Promise<void>;
}

/** `r\n`, and `x STATUS\n` at most. What else is written comes from a broken command and is dropped. */
const maxWords = 64;

/** Reads the stream to its end. */
export function readReady(stream: Readable): ReadyStream {
  const ready = createGate<boolean>();
  const failure = createGate<number | undefined>();
  const closed = createGate<void>();
  let text = "";
  const end = (): void => {
    ready.open(false);
    failure.open(undefined);
    closed.open();
  };
  stream.on("data", (chunk: Buffer) => {
    if (text.length < maxWords) text += chunk.toString("latin1");
    if (text.startsWith("r\n")) ready.open(true);
    const status = /^x (\d+)$/m.exec(text.slice(2))?.[1];
    if (status !== undefined) failure.open(Number(status));
  });
  stream.once("close", end);
  stream.on("error", end);
  return { ready: ready.passed, failure: failure.passed, closed: closed.passed };
}
