import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import type { SpawnDescription } from "./description.js";
import type { Baseline } from "./measure/baseline.js";
import { unresolved } from "./measure/complete-shim.js";
import type { Measurement } from "./measurement.js";
import { createMeasurer, type Measurer } from "./measurer.js";
import { cacheVariables } from "./resolve/environment.js";
import { type AskInterpreter, askAsChild, type ShimQuestion } from "./shim.js";
import { type LaunchTerms, readTerms } from "./terms.js";

/** Settings of `measureLaunch`. */
export interface MeasureOptions {
  /** Shared by many launches; default: one for this call. */
  readonly measurer?: Measurer | undefined;
  /** A private folder (0700) below which Python's cache prefix is named. Default: one for this user in the system's temporary folder. */
  readonly scratch?: string | undefined;
  /** How a shim is asked what it runs. Default: as a child, ten seconds at most. */
  readonly ask?: AskInterpreter | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A measurement with what is needed to check it again. */
export interface MeasuredLaunch {
  readonly terms: LaunchTerms;
  readonly measurement: Measurement;
  readonly baseline: Baseline;
  /** A shim that was not asked yet. */
  readonly question: ShimQuestion | undefined;
}

/** What every step works with. */
export interface MeasureMeans {
  readonly measurer: Measurer;
  readonly scratch: string;
  readonly ask: AskInterpreter;
  readonly signal: AbortSignal | undefined;
}

/**
 * Resolves what would run and measures it. Starts nothing, except a shim that is asked which interpreter it stands for.
 * @throws {AttestationError} each code of the README's table up to `MEASURE_TIMEOUT`; an abort rejects with its reason.
 */
export async function measureLaunch(description: SpawnDescription, options: MeasureOptions = {}): Promise<Measurement> {
  return withMeans(options, async (means) => {
    const measured = await measureTerms(
      readTerms(description, () => process.cwd()),
      means,
    );
    return (await answerShim(measured, means)).measurement;
  });
}

/** Runs something with a measurer: the caller's, or one of its own that is closed afterwards. */
export async function withMeans<T>(options: MeasureOptions, run: (means: MeasureMeans) => Promise<T>): Promise<T> {
  const { measurer = createMeasurer(), scratch = defaultScratch(), ask = askAsChild, signal } = options;
  signal?.throwIfAborted();
  try {
    return await run({ measurer, scratch, ask, signal });
  } finally {
    if (options.measurer === undefined) await measurer.close();
  }
}

/** Measures, and adds the variables that keep compiled code out. A shim is not asked yet. */
export async function measureTerms(
  terms: LaunchTerms,
  { measurer, scratch, signal }: MeasureMeans,
): Promise<MeasuredLaunch> {
  const { measurement, baseline, question } = await measurer.run("measure", terms, { signal });
  const { launch, interpreter } = measurement;
  if (interpreter?.family === "python") await measurer.run("privateFolder", scratch, { signal });
  // Never made: nothing can lie in it, and nothing is left behind when this process is killed.
  const prefix = `${scratch}/${randomBytes(16).toString("hex")}`;
  const env = { ...launch.env, ...cacheVariables(interpreter?.family, launch.env, prefix) };
  return { terms, measurement: { ...measurement, launch: { ...launch, env } }, baseline, question };
}

/**
 * Asks a shim which interpreter it runs, and measures that one.
 * @throws {AttestationError} `SHIM_UNRESOLVED`, `PYTHON_CACHE_REDIRECTED`
 */
export async function answerShim(
  measured: MeasuredLaunch,
  { measurer, ask, signal }: MeasureMeans,
): Promise<MeasuredLaunch> {
  const { measurement, baseline, question, terms } = measured;
  if (measurement.interpreter?.kind !== "shim") return measured;
  if (question === undefined) throw unresolved(measurement.interpreter, "");
  const answer = await answerOf(ask, question, signal);
  const completed = await measurer.run("completeShim", { measurement, baseline, answer }, { signal });
  return { ...completed, terms, question: undefined };
}

function defaultScratch(): string {
  return `${tmpdir()}/berth-${process.getuid?.() ?? "user"}`;
}

/** An asker of the caller's own may fail in its own way: then there is no answer, unless it was aborted. */
async function answerOf(ask: AskInterpreter, question: ShimQuestion, signal: AbortSignal | undefined): Promise<string> {
  try {
    return (await ask(question, { signal })).trim();
  } catch {
    signal?.throwIfAborted();
    return "";
  }
}
