import type { Readable, Writable } from "node:stream";
import { getSystemErrorName } from "node:util";
import type { GuestExit } from "../environment.js";
import { LeaseError } from "../errors.js";
import { type ControlChannel, type ForwardFrame, openControl, type StartFrame } from "./control-channel.js";
import type { DialListener } from "./dial-listener.js";
import type { Ending } from "./ending.js";
import type { GuestBounds } from "./guest-limits.js";
import { signalNumber } from "./guest-signals.js";
import type { GuestStream } from "./guest-stream.js";
import { createGuestTable, type GuestTable, type TableEntry } from "./guest-table.js";
import { environmentEnded, within } from "./within.js";

/** Something that runs inside, with the streams that it was started with. */
export interface Started {
  readonly streams: readonly GuestStream[];
  /** Never rejects. Stays pending for a relay, which is no process. */
  readonly exited: Promise<GuestExit>;
  /** Does nothing when it has ended. */
  signal(name: "SIGINT" | "SIGTERM" | "SIGKILL", group: boolean): void;
  /** SIGKILL for its group. An agent that does not tell of the end in time has lost its environment. */
  kill(): Promise<void>;
  resize(columns: number, rows: number): void;
  /** Says that a relay is done, so that it no longer counts towards `maxOpen`. */
  forget(): void;
}

export interface StartTerms {
  /** How many streams the agent connects for it. */
  readonly streams: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HelloTerms {
  readonly deadlineMs: number;
  readonly forward?: ForwardFrame | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The host's view of the agent inside. */
export interface GuestAgent {
  /** Resolves when the agent is ready. Call once, first. */
  hello(terms: HelloTerms): Promise<void>;
  /** @throws {LeaseError} `COMMAND_NOT_STARTED`, `ENVIRONMENT_ENDED`. */
  start(frame: StartFrame, terms: StartTerms): Promise<Started>;
  setDeadline(remainingMs: number): void;
}

export interface AgentOptions {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly listener: DialListener;
  /** Path of the listener's socket as the agent sees it. */
  readonly dialPath: string;
  readonly bounds: GuestBounds;
  readonly ending: Ending;
  /** Told when the agent breaks the protocol: the environment is to be ended. */
  readonly onFault: (fault: string) => void;
}

/** Speaks with the agent; of what it says, only what was asked for is believed. */
export function connectAgent(options: AgentOptions): GuestAgent {
  const { listener, bounds, ending } = options;
  let ready: (() => void) | undefined;
  const greet = (): void => {
    if (ready === undefined) options.onFault("a greeting that was not asked for");
    ready?.();
    ready = undefined;
  };
  const control = openControl(options, {
    onFrame: (frame) => {
      const fault = frame.kind === "ready" ? greet() : table.take(frame);
      if (fault !== undefined) options.onFault(fault);
    },
    onFault: options.onFault,
  });
  const table = createGuestTable((id) =>
    control.send({ op: "signal", id, signal: signalNumber("SIGKILL"), group: true }),
  );
  ending.watch(() => table.endAll());

  const start: GuestAgent["start"] = async (frame, { streams: count, signal }) => {
    signal?.throwIfAborted();
    if (ending.end !== undefined) throw environmentEnded(ending.end);
    if (table.size >= bounds.maxOpen) throw tooMany(bounds.maxOpen);
    const expected = Array.from({ length: count }, () => listener.expect());
    const entry = table.add(frame.op === "relay" ? "relay" : "process");
    control.send({ ...frame, id: entry.id, tokens: expected.map(({ token }) => token) });
    const wait = { timeoutMs: bounds.startTimeoutMs, ending, signal };
    try {
      const answer = await within(entry.answer, wait);
      if (answer.kind === "failed") throw notStarted(frame, answer.errno);
      const streams = await within(Promise.all(expected.map(({ connected }) => connected)), wait);
      return startedOne({ ...options, control, table }, entry, streams);
    } catch (error) {
      for (const { cancel } of expected) cancel();
      table.abandon(entry.id);
      throw error;
    }
  };
  return {
    start,
    setDeadline: (ms) => control.send({ op: "deadline", ms: wholeMs(ms) }),
    hello: ({ deadlineMs, forward, signal }) => {
      const greeted = new Promise<void>((resolve) => (ready = resolve));
      sendHello(control, options.dialPath, deadlineMs, forward);
      return within(greeted, { timeoutMs: bounds.startTimeoutMs, ending, signal });
    },
  };
}

interface AgentParts extends AgentOptions {
  readonly control: ControlChannel;
  readonly table: GuestTable;
}

function startedOne(parts: AgentParts, { id, exited }: TableEntry, streams: readonly GuestStream[]): Started {
  const { control, table, bounds, ending } = parts;
  const signal: Started["signal"] = (name, group) => {
    if (table.isRunning(id)) control.send({ op: "signal", id, signal: signalNumber(name), group });
  };
  return {
    streams,
    exited,
    signal,
    async kill() {
      signal("SIGKILL", true);
      await within(exited, { timeoutMs: bounds.startTimeoutMs, ending }).catch(() => {
        if (ending.end === undefined) parts.onFault("nothing about the end of a process that was killed");
      });
    },
    resize: (columns, rows) => control.send({ op: "resize", id, columns, rows }),
    forget: () => table.forget(id),
  };
}

function sendHello(control: ControlChannel, dial: string, deadlineMs: number, forward: ForwardFrame | undefined): void {
  control.send({ op: "hello", dial, ms: wholeMs(deadlineMs), forward });
}

function wholeMs(ms: number): number {
  return Math.max(1, Math.round(ms));
}

function tooMany(maxOpen: number): LeaseError {
  return new LeaseError(
    "COMMAND_NOT_STARTED",
    `${maxOpen} processes and requests are open in this environment already`,
    {
      cure: "close some, or raise limits.maxOpen",
    },
  );
}

function notStarted(frame: StartFrame, errno: number): LeaseError {
  if (frame.op === "relay") {
    return new LeaseError(
      "RELAY_FAILED",
      `port ${frame.port} inside did not accept a connection (${errorName(errno)})`,
    );
  }
  const program = frame.argv[0] ?? "";
  return new LeaseError(
    "COMMAND_NOT_STARTED",
    `${program.slice(0, 200)} in ${frame.cwd.slice(0, 200)}: ${errorName(errno)}`,
  );
}

function errorName(errno: number): string {
  return errno === 0 ? "refused" : getSystemErrorName(-errno);
}
