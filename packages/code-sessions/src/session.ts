import type { HeldLimit, LeaseRecord } from "@berth/environment-leases";
import type { SessionEnd } from "./errors.js";
import type { Outcome, OutputEvent } from "./outcome.js";

export interface ExecuteOptions {
  /** Python source; at most `maxCodeBytes`. */
  readonly code: string;
  /** 1 ms to `maxCallMs`. Default `defaultCallMs`. Above: interrupt, then after the grace the worker is killed. */
  readonly timeoutMs?: number | undefined;
  /** 1 to 200 characters. The same key in one session gives the first outcome, also while it still runs; with other code `IDEMPOTENCY_CONFLICT`. */
  readonly idempotencyKey?: string | undefined;
  readonly onOutput?: ((event: OutputEvent) => void) | undefined;
  /** Keep terminal colours in tracebacks. Default false. */
  readonly colours?: boolean | undefined;
  /** Interrupts the code; the call rejects with the signal's reason. Code that waits in the queue is taken back. */
  readonly signal?: AbortSignal | undefined;
}

/** A session as it is told to its owner. */
export interface SessionStatus {
  readonly id: string;
  readonly state: "active" | "dead" | "stopped";
  readonly busy: boolean;
  readonly queued: number;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly executions: number;
  readonly lease: LeaseRecord;
  readonly enforced: readonly HeldLimit[];
  readonly isolated: boolean;
  /** Why it can do less than others of its profile, for a person; undefined when it can do all. */
  readonly restriction?: string | undefined;
  /** With `dead` and `stopped`. */
  readonly end: SessionEnd | undefined;
}

/** A name that code has defined. */
export interface Variable {
  readonly name: string;
  readonly type: string;
  /** At most 200 characters of its `repr`; empty when asking for it would run too much code. */
  readonly preview: string;
  readonly sizeBytes: number | undefined;
}

export interface FileEntry {
  /** Relative to the workspace, `/` between parts. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** Files of the workspace, reached from inside, so that no link in it leads anywhere else. */
export interface SessionFiles {
  list(options?: { readonly path?: string; readonly signal?: AbortSignal }): Promise<readonly FileEntry[]>;
  /** `FILE_TOO_LARGE` over `maxFileBytes`. */
  read(path: string, options?: { readonly signal?: AbortSignal }): Promise<Uint8Array>;
  /** Makes missing folders; replaces atomically. */
  write(path: string, bytes: Uint8Array, options?: { readonly signal?: AbortSignal }): Promise<FileEntry>;
  remove(path: string, options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/** One stateful Python. Calls run one at a time in the order in which they came. */
export interface Session extends AsyncDisposable {
  readonly id: string;
  readonly owner: string;
  readonly files: SessionFiles;
  status(): SessionStatus;
  /** Resolves with every outcome of the code, `dead` included: code that was handed over is never sent again. Rejects only for what was never handed over. */
  execute(options: ExecuteOptions): Promise<Outcome>;
  /** Interrupts the running call, as Ctrl-C would. False when nothing runs. */
  interrupt(): boolean;
  variables(options?: { readonly signal?: AbortSignal }): Promise<readonly Variable[]>;
  renew(options: { readonly ttlMs: number; readonly generation?: number | undefined }): Promise<LeaseRecord>;
  /** Resolves when the session is no more. Never rejects. */
  readonly ended: Promise<SessionEnd>;
  /** Interrupts what runs, kills it after the grace, and waits for the confirmed end of its lease. */
  stop(): Promise<void>;
}
