import type { RuntimeCapabilities } from "./capabilities.js";
import type { DisposableEnvironment } from "./environment.js";
import type { ProfileTerms } from "./profile.js";

/** `mcp-` and 24 hexadecimal digits; chosen and written down before the worker exists. */
export type WorkerName = string;

/** What bounds a new worker. */
export interface CreateOptions {
  /** So many milliseconds from now, at least 1, the environment ends by itself, whatever becomes of us: the second enforcer. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Makes workers and, above all, makes them go away. Contract suite: `/contract`. */
export interface ManagedProvider {
  readonly name: string;
  readonly capabilities: RuntimeCapabilities;
  /** `name` comes from the host, never from a client. A create that fails leaves nothing behind. */
  create(name: WorkerName, profile: ProfileTerms, options: CreateOptions): Promise<DisposableEnvironment>;
  /** Names of every worker of ours that may exist, of this process or an earlier one: only names that `create` was given. */
  listWorkers(): Promise<readonly WorkerName[]>;
  /** `unknown` is never to be read as `no`. */
  exists(name: WorkerName): Promise<"yes" | "no" | "unknown">;
  /** Ends a worker and removes its scratch, also one of an earlier process. Idempotent; a name that does not exist is fine. Rejects when something is left. */
  destroy(name: WorkerName): Promise<void>;
  /** Takes over a living worker of an earlier process; left out by providers that cannot. */
  attach?(name: WorkerName, profile: ProfileTerms, options: CreateOptions): Promise<DisposableEnvironment>;
  /** Ends every worker that is left and frees what the provider holds. */
  close(): Promise<void>;
}
