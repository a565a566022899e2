import type { Readable, Writable } from "node:stream";
import {
  aFlag,
  aFunction,
  anObject,
  aServer,
  checkOptions,
  having,
  kind,
  type OptionKinds,
  optional,
  somebody,
} from "../option-check.js";
import type { McpServer } from "../server/create-server.js";
import type { StdioServerLimits } from "./limits.js";

/** What `serveStdio` accepts. */
export interface ServeStdioOptions<P> {
  readonly server: McpServer<P>;
  /** Who the client is: neither undefined nor null. Whoever starts the process decides it; nothing in a message can. */
  readonly principal: P;
  /** Default `process.stdin`. Stays the caller's. */
  readonly readable?: Readable | undefined;
  /** Default `process.stdout`, which is then guarded: other writes to it go to standard error. Stays the caller's. */
  readonly writable?: Writable | undefined;
  readonly limits?: StdioServerLimits | undefined;
  /**
   * What to do when a handler threw something that is no answer (the client got -32603, `logger` the error). `exit` (default): finish the other work and
   * stop with code 1. `continue`: go on. A function decides for each, at once; whatever else it returns, a promise too, or throws, is `exit`.
   */
  readonly onUnexpectedError?: "exit" | "continue" | ((error: unknown) => "exit" | "continue") | undefined;
  /** Gets one text for each thing that an operator should know. Default: a line on standard error. Never called with what a client sent. */
  readonly logger?: ((text: string, error?: unknown) => void) | undefined;
  /**
   * Aborted to stop the server: nothing more is read, what came before is finished within `drainMs`, listeners get their farewell, and the end is that of a client
   * that ended its input. For programs that stop on SIGTERM.
   */
  readonly signal?: AbortSignal | undefined;
  /** Whether to end the process when the serving ends. Default: when it serves `process.stdin`, since a timer of the application would keep it. */
  readonly exitProcess?: boolean | undefined;
}

const stdioOptions = {
  server: aServer,
  principal: somebody,
  readable: optional(having(["on", "pause", "resume"], "a readable stream")),
  writable: optional(having(["on", "write"], "a writable stream")),
  limits: optional(anObject),
  onUnexpectedError: optional(kind('"exit", "continue" or a function', isDecision)),
  logger: optional(aFunction),
  signal: optional(having(["addEventListener", "throwIfAborted"], "an AbortSignal")),
  exitProcess: optional(aFlag),
} as const satisfies OptionKinds<ServeStdioOptions<unknown>>;

function isDecision(value: unknown): boolean {
  return value === "exit" || value === "continue" || typeof value === "function";
}

/** @throws {TypeError} */
export function checkStdioOptions<P>(options: ServeStdioOptions<P>): void {
  checkOptions(options, stdioOptions);
  options.server.principalId(options.principal); // one that the server cannot tell from others would fail with the first request
  if ((options.readable ?? process.stdin).readableEncoding !== null) {
    throw new TypeError("the readable decodes text; bytes are needed");
  }
}
