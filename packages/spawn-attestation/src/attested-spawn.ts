import {
  type Decision,
  type DecisionStage,
  decide,
  decideBeforeAsking,
  decideChanged,
  type SpawnPolicy,
} from "./decide.js";
import type { Launch, SpawnDescription } from "./description.js";
import { AttestationError, isAttestationError } from "./errors.js";
import type { Checked } from "./jobs.js";
import {
  answerShim,
  type MeasuredLaunch,
  type MeasureMeans,
  type MeasureOptions,
  measureTerms,
  withMeans,
} from "./measure.js";
import type { Measurement } from "./measurement.js";
import { createStatement } from "./statement.js";
import { readTerms } from "./terms.js";
import type { Statement } from "./verify.js";

/** What `attestedSpawn` needs from its caller. */
export interface AttestedSpawnOptions<T> extends MeasureOptions {
  readonly description: SpawnDescription;
  readonly policy: SpawnPolicy;
  /** Called with every decision, before anything follows from it. When it rejects, nothing is spawned. */
  readonly record: (decision: Decision) => Promise<void>;
  /**
   * Called at most once, after a recorded decision to spawn. `recheck` is for who holds the target open, or bound, before it lets it run: called
   * then, and after it was seen that the path still leads to what is held, nothing can have been put in its place.
   */
  readonly spawn: (launch: Launch, recheck: Recheck) => Promise<T>;
  /** `spawn` calls `recheck` before anything runs, so that the check before exec is not done twice. Default false. */
  readonly spawnRechecks?: boolean | undefined;
  /** Ends a child that turned out to be something else than was measured. */
  readonly end: (child: T) => Promise<void>;
  /** A private folder (0700) for copies; needed for `guard: "snapshot"`. Made when absent. */
  readonly snapshots?: string | undefined;
  /** The clock of statements. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Compares once more what was measured.
 * @throws {AttestationError} `TARGET_CHANGED` and the like, recorded. Also the signal's reason.
 */
export type Recheck = () => Promise<void>;

/** A child that is what was measured, as far as `guard` can tell. */
export interface AttestedChild<T> {
  readonly child: T;
  readonly decision: Decision;
  /** Absent only when `policy.observe` let something through that could not be measured. */
  readonly measurement: Measurement | undefined;
  /** What was executed: the launch of the measurement, or of its copy. */
  readonly launch: Launch;
  readonly statement: Statement | undefined;
  /**
   * The last check, for after the child's `initialize` answer and before its first call. An abort ends the wait only.
   * @throws {AttestationError} `TARGET_CHANGED`, recorded, after the child was ended.
   */
  recheck(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
}

/** A launch that was decided. */
interface Ready {
  readonly decision: Decision;
  /** Known whenever the verdict is `spawn`. */
  readonly launch: Launch | undefined;
  readonly measurement: Measurement | undefined;
  /** What is compared again; absent under `guard: "none"`, and when nothing was measured. */
  readonly watched: Checked | undefined;
}

/**
 * Measures, decides, records, and only then spawns; checks again around the spawn.
 * @throws {AttestationError} with the refusal's code, after `record` has taken it. What `record`, `spawn` and the
 * signal reject with passes through.
 */
export async function attestedSpawn<T>(options: AttestedSpawnOptions<T>): Promise<AttestedChild<T>> {
  return withMeans(options, async (means) => {
    const ready = await prepare(options, means);
    const { decision, launch } = ready;
    await options.record(decision);
    if (decision.verdict === "refuse" || launch === undefined) throw refusalOf(decision, launch);
    if (options.spawnRechecks !== true) await check(options, ready, "before-exec", means);
    means.signal?.throwIfAborted();
    const child = await options.spawn(launch, () => check(options, ready, "before-exec", means));
    try {
      await check(options, ready, "after-exec", means);
      means.signal?.throwIfAborted();
    } catch (error) {
      throw await endAfter(options, child, error);
    }
    return attested(options, { ...ready, launch }, child);
  });
}

async function prepare<T>(options: AttestedSpawnOptions<T>, means: MeasureMeans): Promise<Ready> {
  const { description, policy } = options;
  let measurement: Measurement | undefined;
  try {
    const terms = readTerms(description, () => process.cwd());
    const measured = await measureTerms(terms, means);
    measurement = measured.measurement;
    const early = decideBeforeAsking(measurement, terms, policy);
    if (early.verdict === "refuse")
      return { decision: early, launch: measurement.launch, measurement, watched: undefined };
    const whole = await answerShim(measured, means);
    measurement = whole.measurement;
    const decision = decide(measurement, terms, policy);
    const guarded = decision.verdict === "refuse" ? undefined : await guardedLaunch(options, whole, means);
    return { decision, measurement, launch: measurement.launch, watched: undefined, ...guarded };
  } catch (error) {
    if (!isAttestationError(error) || error.code === "MEASURER_CLOSED") throw error;
    return unprepared(error, options, measurement);
  }
}

/** What is executed and watched: the launch as it is, or one that is led to a copy. */
async function guardedLaunch<T>(
  { snapshots }: AttestedSpawnOptions<T>,
  { terms, measurement, baseline }: MeasuredLaunch,
  { measurer, signal }: MeasureMeans,
): Promise<Pick<Ready, "launch" | "watched">> {
  if (terms.guard === "none") return { launch: measurement.launch, watched: undefined };
  if (terms.guard === "recheck") return { launch: measurement.launch, watched: { terms, baseline } };
  if (snapshots === undefined) {
    throw new AttestationError("SNAPSHOT_FAILED", 'guard: "snapshot" needs a folder for snapshots', {
      advice: 'pass the option snapshots, or set "guard": "recheck"',
    });
  }
  const order = { terms, baseline, digest: measurement.digest, snapshots };
  const copied = await measurer.run("copy", order, { signal });
  const launch = { ...copied.launch, env: measurement.launch.env };
  return { launch, watched: { terms: copied.terms, baseline: copied.baseline } };
}

/** What could not be measured, or not be guarded; with `observe` it may run all the same when the launch is known. */
function unprepared<T>(
  error: AttestationError,
  { description, policy }: AttestedSpawnOptions<T>,
  measurement: Measurement | undefined,
): Ready {
  const launch = measurement?.launch ?? error.launch;
  const { advice, osCode } = error;
  const known = new AttestationError(error.code, error.message, { advice, osCode, launch, cause: error });
  const decision = decide(known, description, policy);
  const measured = measurement?.digest;
  return { decision: { ...decision, measured }, launch, measurement, watched: undefined };
}

async function check<T>(
  options: AttestedSpawnOptions<T>,
  { watched, decision }: Ready,
  stage: DecisionStage,
  { measurer, signal }: Pick<MeasureMeans, "measurer" | "signal">,
): Promise<void> {
  if (watched === undefined) return;
  try {
    await measurer.run("recheck", watched, { signal });
  } catch (error) {
    if (!isAttestationError(error) || error.code === "MEASURER_CLOSED") throw error;
    const changed = decideChanged(decision, error, stage, options.policy);
    await options.record(changed);
    if (changed.verdict === "refuse") throw error;
  }
}

/** Ends a child after a fault and gives back what to throw; an end that fails must not hide the fault. */
async function endAfter<T>(options: AttestedSpawnOptions<T>, child: T, fault: unknown): Promise<unknown> {
  try {
    await options.end(child);
    return fault;
  } catch (error) {
    if (!isAttestationError(fault)) return new AggregateError([fault, error], "the child could not be ended");
    return new AttestationError(fault.code, `${fault.message}; and the child could not be ended`, {
      advice: fault.advice,
      cause: error,
    });
  }
}

function attested<T>(
  options: AttestedSpawnOptions<T>,
  ready: Ready & { readonly launch: Launch },
  child: T,
): AttestedChild<T> {
  const { decision, measurement, launch } = ready;
  const now = options.now ?? Date.now;
  const statement =
    measurement === undefined ? undefined : createStatement({ measurement, decision, launch, timeMs: now() });
  const recheck: AttestedChild<T>["recheck"] = async ({ signal } = {}) => {
    await withMeans({ ...options, signal }, async (means) => {
      try {
        await check(options, ready, "after-initialize", means);
      } catch (error) {
        const isOurs = signal?.aborted === true || (isAttestationError(error) && error.code === "MEASURER_CLOSED");
        throw isOurs ? error : await endAfter(options, child, error);
      }
    });
  };
  return { child, decision, measurement, launch, statement, recheck };
}

function refusalOf({ reason, message, advice, osCode }: Decision, launch: Launch | undefined): Error {
  if (reason === undefined) return new Error(`refused without a reason: ${message}`);
  return new AttestationError(reason, message, { advice: advice ?? "", osCode, launch });
}
