import { type Bounds, type LimitRanges, limitReader } from "../limit-reader.js";
import { aFunction, checkOptions, kind, type OptionKind, type OptionKinds, optional } from "../option-check.js";
import { createTrace, type Trace } from "./trace.js";

/** One thing that a contract wants, as a test of any runner: `for (const { name, run } of checks) test(name, run)`. */
export interface ContractCheck {
  /** What the contract wants, as a sentence. No two checks of a contract have the same. */
  readonly name: string;
  /**
   * Opens a store, checks it, closes it. May be called again, and beside other checks.
   * @throws {AssertionError} of node:assert when the store breaks the contract: `message` says what was wanted, what was seen and which calls led to it.
   */
  run(): Promise<void>;
}

/** How a contract is checked. */
export interface ContractLimits {
  /** Where the random steps begin: 0 to 4_294_967_295. Default 1. A failure of theirs names the seed that brings it back, with `rounds: 1`. */
  readonly seed?: number | undefined;
  /** Sequences of random steps, each in a store of its own: 1 to 100_000. Default 30. */
  readonly rounds?: number | undefined;
  /** How long one call of the store may take, in milliseconds: 10 to 600_000. Default 10_000. */
  readonly callMs?: number | undefined;
}

/** ContractLimits with defaults filled in. */
export type CheckTerms = Bounds<ContractLimits>;

const ranges = {
  seed: { min: 0, max: 4_294_967_295, preset: 1 },
  rounds: { min: 1, max: 100_000, preset: 30 },
  callMs: { min: 10, max: 600_000, preset: 10_000 },
} as const satisfies LimitRanges<ContractLimits>;

const aNumber = optional(kind("a number", (value) => typeof value === "number"));
const limitKinds: OptionKinds<ContractLimits> = { seed: aNumber, rounds: aNumber, callMs: aNumber };

/** The ways to open a store, beside `open` itself. */
type Openers = Readonly<Record<string, unknown>>;

/**
 * Checks what a caller gave: functions that open, and limits.
 * @throws {RangeError} for a limit out of its range, {TypeError} for an option that does not exist or is of another kind.
 */
export function readTerms(open: unknown, openers: Openers, limits: ContractLimits): CheckTerms {
  checkOptions({ open }, { open: aFunction });
  const kinds: Record<string, OptionKind> = { ...limitKinds };
  for (const name of Object.keys(openers)) kinds[name] = optional(aFunction);
  checkOptions({ ...openers, ...limits }, kinds);
  const read = limitReader(limits, ranges);
  return { seed: read("seed"), rounds: read("rounds"), callMs: read("callMs") };
}

/** What a check does with a store that was opened for it. */
export interface Trial<Opened> {
  readonly name: string;
  readonly open: () => Promise<Opened> | Opened;
  readonly callMs: number;
  /** Of the random steps, if there are any. */
  readonly seed?: number | undefined;
}
interface Closable {
  close?(): Promise<void> | void;
}

/** Opens, runs, closes, whatever happened. When both the run and the close fail, the error has both. */
export async function withOpened<Opened extends Closable>(
  { name, open, callMs, seed }: Trial<Opened>,
  run: (opened: Opened, trace: Trace) => Promise<void>,
): Promise<void> {
  const trace = createTrace(name, callMs, seed);
  const opened = await trace.open("open()", open);
  let failure: { readonly error: unknown } | undefined;
  try {
    await run(opened, trace);
  } catch (error) {
    failure = { error };
  }
  try {
    await trace.close(() => opened.close?.());
  } catch (error) {
    if (failure !== undefined) throw new AggregateError([failure.error, error], messageOf(failure.error));
    throw error;
  }
  if (failure !== undefined) throw failure.error;
}

/** A check of random steps: round by round, each with the next seed and a store of its own. */
export function inRounds<Opened extends Closable>(
  name: string,
  { seed: first, rounds, callMs }: CheckTerms,
  open: () => Promise<Opened> | Opened,
  run: (opened: Opened, trace: Trace, seed: number) => Promise<void>,
): ContractCheck {
  return {
    name,
    async run() {
      for (let round = 0; round < rounds; round += 1) {
        const seed = (first + round) % 4_294_967_296;
        await withOpened({ name, open, callMs, seed }, (opened, trace) => run(opened, trace, seed));
      }
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
