import type { Scheduler } from "@berth/jsonrpc-framing";
import type { Confine } from "../confine.js";
import type { EnvironmentEvidence } from "./evidence.js";

/** Where distributions come from. */
export type IndexPolicy =
  /** The installer's own settings of this machine. */
  | { readonly from: "default" }
  /** One index, https only (loopback excepted); credentials in it appear nowhere. */
  | { readonly from: "index"; readonly url: string }
  /** Only these folders of wheels; no network. */
  | { readonly from: "wheels"; readonly folders: readonly string[] };

/** What `openEnvironmentStore` accepts. */
export interface EnvironmentStoreOptions {
  /** Absolute path of the store's folder; made with mode 0700. Several hosts may use one store at once. */
  readonly path: string;
  /** `auto` (default): uv when it is on PATH, else `venv --without-pip` and pip from outside. */
  readonly installer?: "auto" | "uv" | "pip" | undefined;
  /** Default `{ from: "default" }`. */
  readonly index?: IndexPolicy | undefined;
  /** Every distribution must be named with its hash. Default false. */
  readonly requireHashes?: boolean | undefined;
  /** Source distributions are refused: installing then runs no code of what is installed. Default false: see README. */
  readonly onlyWheels?: boolean | undefined;
  readonly limits?: BuildLimits | undefined;
  /** Runs installs confined; without it they run as this process may, and the evidence says so. */
  readonly confine?: Confine | undefined;
  /**
   * Where `confine` does not hold on this machine: `refuse` (default) builds nothing, `warn` says so to `onProgress` in one
   * line and installs without. That is found out before any code of what is installed can run.
   */
  readonly ifNotConfined?: "refuse" | "warn" | undefined;
  /** The environment that installers get beside what they need: nothing by default. For proxies and certificates. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Wall clock milliseconds since 1970, for ages of what is collected; never for locks. */
  readonly now?: (() => number) | undefined;
  readonly scheduler?: Scheduler | undefined;
}

/** What bounds one build. Over a limit: `VENV_BUILD_FAILED` that names it. */
export interface BuildLimits {
  /** 1_000 to 86_400_000 milliseconds. Default 600_000. */
  readonly buildTimeoutMs?: number | undefined;
  /** Kept of an installer's output, 4_096 to 16_777_216 bytes. Default 64 KiB; the rest is counted. */
  readonly maxOutputBytes?: number | undefined;
  /** Of one environment on disk; three times so much while it is built. Default 2 GiB. */
  readonly maxEnvironmentBytes?: number | undefined;
}

/** What an environment is made from. */
export interface EnvironmentRequest {
  /** An absolute path, or a name on PATH such as `python3.12`. Default `python3`. */
  readonly interpreter?: string | undefined;
  /** A requirements file, absolute; undefined: an environment with nothing installed. */
  readonly requirements?: string | undefined;
  /** Constraints files, absolute. */
  readonly constraints?: readonly string[] | undefined;
}

/** How a caller waits for an environment. */
export interface AcquireOptions {
  readonly signal?: AbortSignal | undefined;
  /** Steps for a person: `waiting for process 4711, which builds or checks it`, `installing`; each again every 10 s, with its time. Must not throw. */
  readonly onProgress?: ((step: string) => void) | undefined;
}

/** An environment in use: it is not collected before it is closed, or its process has ended, by any process. */
export interface HeldEnvironment extends AsyncDisposable {
  /** Of everything that it was made from, hex SHA-256. */
  readonly key: string;
  readonly path: string;
  /** Its interpreter, absolute. */
  readonly python: string;
  /** Its site-packages folder, absolute. */
  readonly sitePackages: string;
  readonly evidence: EnvironmentEvidence;
  /**
   * `cached`: found whole. `built`: for the first time. `rebuilt`: what was there was not whole, or this request had an
   * environment that was made from something else; `reason` says why.
   */
  readonly origin: "cached" | "built" | "rebuilt";
  /** One sentence, for instance `the interpreter went from 3.11.2 to 3.11.9`. */
  readonly reason: string | undefined;
  close(): Promise<void>;
}

/** One environment as `list` shows it. */
export interface StoredEnvironment {
  readonly key: string;
  readonly path: string;
  readonly state: "ready" | "building" | "broken";
  /** Why it is broken, or who builds it. */
  readonly message: string | undefined;
  readonly pythonVersion: string | undefined;
  readonly distributions: number | undefined;
  /** As in its evidence. */
  readonly confinement: string | undefined;
  readonly builtFromSource: boolean | undefined;
  readonly bytes: number;
  /** Wall clock milliseconds since 1970. */
  readonly builtAt: number | undefined;
  readonly lastUsedAt: number | undefined;
  /** Numbers of the living processes that hold it. */
  readonly heldBy: readonly number[];
}

/** What `collect` removes: what nobody holds and is over one of these. */
export interface CollectOptions {
  /** Not used for so long, in milliseconds. Default: any age. */
  readonly unusedMs?: number | undefined;
  /** Least recently used first, until all together take at most so much. */
  readonly maxBytes?: number | undefined;
  /** Says what would go, and removes nothing. */
  readonly isTrial?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What was collected. */
export interface CollectReport {
  readonly removed: readonly { readonly key: string; readonly bytes: number; readonly why: string }[];
  readonly kept: number;
  readonly freedBytes: number;
  /** What should have gone and did not, with the reason. */
  readonly failed: readonly { readonly path: string; readonly why: string }[];
}

/** Environments on disk, each built once, published in one step, checked before each use. */
export interface EnvironmentStore extends AsyncDisposable {
  /** The key that a request has now, with the parts that it was made from, for people. Builds nothing. */
  keyOf(request: EnvironmentRequest, options?: AcquireOptions): Promise<EnvironmentKey>;
  /**
   * A whole environment, from the store or built now. Rejects with `INTERPRETER_NOT_FOUND`, `REQUIREMENTS_INVALID`,
   * `VENV_BUILD_FAILED`, `STORE_UNUSABLE`, `STORE_CLOSED` or the signal's reason.
   */
  acquire(request: EnvironmentRequest, options?: AcquireOptions): Promise<HeldEnvironment>;
  list(options?: { readonly signal?: AbortSignal | undefined }): Promise<readonly StoredEnvironment[]>;
  collect(options: CollectOptions): Promise<CollectReport>;
  /** Lets go of what it holds and ends builds that are under way. */
  close(): Promise<void>;
}

/** What an environment's name is made of. */
export interface EnvironmentKey {
  /** Hex SHA-256 of the canonical form of `parts`. */
  readonly digest: string;
  readonly parts: Readonly<Record<string, unknown>>;
}
