import type { Scheduler } from "@berth/jsonrpc-framing";
import type { Confine, ConfinePolicy } from "../confine.js";

/** What `openWorker` accepts. */
export interface WorkerOptions {
  /** The environment's interpreter, absolute. Missing: `WORKER_START_FAILED`. */
  readonly python: string;
  /** `cpex/framework/isolated/worker.py` inside the environment, absolute. */
  readonly script: string;
  /** Decides which folders plugins may be loaded from. */
  readonly cwd: string;
  /** The whole environment of the worker: see `workerEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits?: WorkerLimits | undefined;
  readonly confine?: { readonly by: Confine; readonly policy: ConfinePolicy } | undefined;
  /** Its tasks bring tokens: no core file of it is written, nor of what it starts. Default false. */
  readonly holdsSecrets?: boolean | undefined;
  /** Each line of stderr, and lines of stdout that are no answers, of bounded length. Must not throw. */
  readonly onLog?: ((line: string) => void) | undefined;
  /**
   * Called for each process with what it says of itself, before any other task is sent to it; what it throws is why the
   * process is not used, and reaches the callers unwrapped.
   */
  readonly accept?: ((features: WorkerFeatures) => void) | undefined;
  readonly scheduler?: Scheduler | undefined;
}

/** What bounds a worker. */
export interface WorkerLimits {
  /** Of one task and of one answer, 1_024 to 67_108_864. Default 10_000_000. */
  readonly maxContentBytes?: number | undefined;
  /** One call, 1 to 600_000. Default 30_000. */
  readonly callTimeoutMs?: number | undefined;
  /** The question for features. Default 5_000. */
  readonly probeTimeoutMs?: number | undefined;
  /** Until a new process says anything at all, 1 to 600_000: so long its first answer may take more. Default 30_000. */
  readonly startTimeoutMs?: number | undefined;
  /** Timeouts one after another after which the process is ended and started anew by the next call. Default 1. */
  readonly maxTimeouts?: number | undefined;
  /** Calls that wait or run, 1 to 65_536. Default 1_024. Above, or over four tasks of the largest size: `WORKER_BUSY`. */
  readonly maxPendingCalls?: number | undefined;
  /** From the shutdown task to SIGKILL. Default 5_000. */
  readonly graceMs?: number | undefined;
}

/** A task as it is sent; the id is added. */
export interface WorkerTask {
  readonly task_type: "info" | "capabilities" | "load_and_run_hook";
  readonly [name: string]: unknown;
}

/** An answer as it came, without its id. */
export type WorkerAnswer = Readonly<Record<string, unknown>>;

/** How one call is waited for. Aborting ends the wait; the worker is given the rest of the time to end the task. */
export interface TaskWait {
  readonly signal?: AbortSignal | undefined;
  /** What of the task must appear in no error and no line of the log. */
  readonly secrets?: readonly string[] | undefined;
}

/** What a worker says of itself. An old one says nothing: no features. */
export interface WorkerFeatures {
  readonly protocolVersion: number | undefined;
  readonly features: readonly string[];
  readonly cpexVersion: string | undefined;
}

/**
 * One CPEX worker process at a time, started by the first call, and by a call after a death: at most three times within
 * 60 s without a completed call, and never when the first start failed. Tasks run one after another, as the worker works.
 */
export interface Worker extends AsyncDisposable {
  /** What the process said of itself when it started. */
  features(wait?: { readonly signal?: AbortSignal | undefined }): Promise<WorkerFeatures>;
  /**
   * Sends a task, at most once. Rejects with `TASK_TOO_LARGE` (nothing was sent), `RESPONSE_TOO_LARGE`, `WORKER_ERROR` (its
   * message), `WORKER_DIED`, `WORKER_TIMEOUT`, `WORKER_START_FAILED`, `WORKER_BUSY`, `WORKER_CLOSED` or the signal's reason.
   */
  call(task: WorkerTask, wait?: TaskWait): Promise<WorkerAnswer>;
  readonly state: "idle" | "running" | "dead" | "closed";
  /** The process, while it runs. */
  readonly pid: number | undefined;
  /** Shutdown task, grace, SIGKILL; nothing of it is left. */
  close(): Promise<void>;
}
