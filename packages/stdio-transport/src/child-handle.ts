import type { Transport } from "./transport.js";

/** How a process ended: one of the two is set. */
export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What the child wrote to its standard error. It is read at all times, so the child never blocks on it. */
export interface StderrRecord {
  /** Every byte so far. */
  readonly byteCount: number;
  /** A copy of the last bytes, at most `stderrTailBytes`. */
  tail(): Uint8Array;
}

/**
 * What holds the child's processes together when the host dies. `namespace`: a pid namespace; every descendant ends.
 * `group`: the process group, and on Linux descendants that left it, as long as our supervisor process is not killed too.
 */
export type Containment = "namespace" | "group";

/** A running child. Closing the handle, or its transport, ends every process of it. */
export interface ChildHandle extends AsyncDisposable {
  /** Frames to and from the command. Its `close` is the handle's. */
  readonly transport: Transport;
  /** The command as this machine sees it; inside a pid namespace it has another number. */
  readonly pid: number;
  readonly containment: Containment;
  /** How the command ended; its descendants may live on, and hold the pipes, until `ended`. Never rejects. */
  readonly exited: Promise<ExitStatus>;
  /** Resolves when stdout and stderr have ended, or were given up. The command may live on. Never rejects. */
  readonly pipesClosed: Promise<void>;
  /** Resolves when no process is left and the record was removed. Never rejects: see `close` for what went wrong. */
  readonly ended: Promise<void>;
  readonly stderr: StderrRecord;
  /** Ends every process with SIGKILL now. Rejects with `CHILD_NOT_ENDED`. */
  kill(): Promise<void>;
  /**
   * Ends it in stages: end of input, SIGTERM to the group, SIGKILL to all, `graceMs` apart, each only while somebody is
   * left. Rejects with `CHILD_NOT_ENDED` when the absence of every process could not be confirmed.
   */
  close(): Promise<void>;
}
