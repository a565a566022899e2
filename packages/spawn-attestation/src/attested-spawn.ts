import type { Decision, SpawnPolicy } from "./decide.js";
import type { Launch, SpawnDescription } from "./description.js";
import type { Measurement } from "./measurement.js";
import type { Measurer } from "./measurer.js";
import type { AskInterpreter } from "./shim.js";
import type { Statement } from "./verify.js";

/** What `attestedSpawn` needs from its caller. */
export interface AttestedSpawnOptions<T> {
  readonly description: SpawnDescription;
  readonly policy: SpawnPolicy;
  /** Called with every decision, before anything follows from it. When it rejects, nothing is spawned. */
  readonly record: (decision: Decision) => Promise<void>;
  /** Called at most once, after a recorded decision to spawn. */
  readonly spawn: (launch: Launch) => Promise<T>;
  /** Ends a child that turned out to be something else than was measured. */
  readonly end: (child: T) => Promise<void>;
  /** A private folder (0700) for snapshots; needed for `guard: "snapshot"`. Made when absent. */
  readonly snapshots?: string | undefined;
  /** A private folder (0700) that Python's cache prefix lies in. Default: one for this user in the system's temporary folder. */
  readonly scratch?: string | undefined;
  /** Shared by many launches; default: one for this launch, closed with it. */
  readonly measurer?: Measurer | undefined;
  /** How a shim is asked what it runs. Default: as a child, ten seconds at most. */
  readonly ask?: AskInterpreter | undefined;
  readonly now?: (() => number) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A child that is what was measured, as far as `guard` can tell. */
export interface AttestedChild<T> {
  readonly child: T;
  readonly decision: Decision;
  /** Absent only when `policy.observe` let something through that could not be measured. */
  readonly measurement: Measurement | undefined;
  /** What was executed: the launch of the measurement, or of its snapshot. */
  readonly launch: Launch;
  readonly statement: Statement | undefined;
  /**
   * The last check, for after the child's `initialize` answer and before its first call.
   * @throws {AttestationError} `TARGET_CHANGED`, recorded, after the child was ended.
   */
  recheck(): Promise<void>;
}

/**
 * Measures, decides, records, and only then spawns; checks again around the spawn.
 * @throws {AttestationError} with the refusal's code, after `record` has taken it.
 */
export function attestedSpawn<T>(_options: AttestedSpawnOptions<T>): Promise<AttestedChild<T>> {
  return Promise.reject(new Error("not built yet"));
}
