import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { depthOf, maxDepth } from "./read-line.js";

/** Where messages are written; nothing else is. */
export interface MessageOutput {
  /** Whether it is within the limits of a message; what is not would end the plugin. */
  fits(text: string, maxBytes: number): boolean;
  /** Whether the host reads so slowly that what may be lost should be. */
  readonly congested: boolean;
  /** Resolves when it was taken, so that a host that reads slowly is waited for. */
  send(text: string): Promise<void>;
  /** Ends this process, when everything was taken. */
  exit(code: number): void;
}

/** Bytes that wait for the host before lines of the log are lost. */
const maxHeldBytes = 2 ** 20;

/** Takes the descriptor for messages. From then on what the plugin's own code prints goes to stderr: one word of it in between would end the plugin. */
export function openMessageOutput(descriptor: number): MessageOutput {
  const stream = takeStream(descriptor);
  // The host has gone: nobody is left to answer.
  stream.on("error", () => process.exit(0));
  const write = descriptor === 1 ? process.stdout.write.bind(process.stdout) : stream.write.bind(stream);
  if (descriptor === 1) process.stdout.write = process.stderr.write.bind(process.stderr);
  const send = (text: string): Promise<void> => new Promise((resolve) => write(`${text}\n`, () => resolve()));
  return {
    fits: (text, maxBytes) => Buffer.byteLength(text) <= maxBytes && depthOf(text) <= maxDepth,
    send,
    get congested() {
      return stream.writableLength > maxHeldBytes;
    },
    exit: (code) => {
      write("", () => process.exit(code));
    },
  };
}

function takeStream(descriptor: number): Writable {
  return descriptor === 1 ? process.stdout : new Socket({ fd: descriptor, readable: false, writable: true });
}
