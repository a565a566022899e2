import { AssertionError } from "node:assert/strict";
import { showJson, textOfJson } from "./json-text.js";

/** What was done to a store, in order, and how the contract refuses what came of it. */
export interface Trace {
  /** Makes one call and waits for it. A rejection, and a call that takes too long, break the contract. */
  call<T>(text: string, work: () => T | Promise<T>): Promise<T>;
  /** The same where the contract has refusals of its own: `onError` gives what they count as, or undefined for what breaks the contract. */
  call<T, R>(text: string, work: () => T | Promise<T>, onError: (error: unknown) => R | undefined): Promise<T | R>;
  /** The same for what opens a store: what it gives is not shown. */
  open<T>(text: string, work: () => T | Promise<T>): Promise<T>;
  /** Waits for calls that were made and not waited for. Never rejects. */
  settled(): Promise<void>;
  /** Compares as JSON: the order of members, and those that are undefined, do not matter. */
  want(sentence: string, seen: unknown, expected: unknown): void;
  /** Something else was wanted than what was seen. */
  fail(sentence: string, seen: unknown, expected?: unknown): never;
}

/** Only the last steps are shown: the first of hundreds explain nothing. */
const maxShownSteps = 60;
const maxShownOutcome = 200;

interface Step {
  readonly text: string;
  outcome: string;
}

export function createTrace(name: string, callMs: number, seed?: number): Trace {
  const steps: Step[] = [];
  const fail = (sentence: string, seen: unknown, expected?: unknown): never => {
    const hidden = Math.max(0, steps.length - maxShownSteps);
    const lines = steps.slice(hidden).map(({ text, outcome }, at) => `  ${hidden + at + 1}. ${text} -> ${outcome}`);
    const message = [
      `the contract is broken: ${name}`,
      `wanted: ${sentence}${expected === undefined ? "" : `: ${showJson(expected)}`}`,
      `seen: ${showJson(seen)}`,
      `after these steps${hidden > 0 ? ` (${hidden} before them)` : ""}:`,
      ...lines,
      ...(seed === undefined ? [] : [`again with { seed: ${seed}, rounds: 1 }`]),
    ].join("\n");
    // An operator that Node knows would have it write a difference of its own behind the message.
    throw new AssertionError({ message, actual: seen, expected, operator: "contract", stackStartFn: fail });
  };
  const underWay = new Set<Promise<unknown>>();
  const perform = async <T, R>(
    text: string,
    work: () => T | Promise<T>,
    onError?: (error: unknown) => R | undefined,
    show: (value: T) => string = (value) => showJson(value, maxShownOutcome),
  ): Promise<T | R> => {
    const step: Step = { text, outcome: "not settled" };
    steps.push(step);
    const ended = await settle(work, callMs);
    if (ended.kind === "late") return fail(`${text} settles within ${callMs} ms (callMs)`, "nothing happened");
    if (ended.kind === "done") {
      step.outcome = show(ended.value);
      return ended.value;
    }
    const counted = onError?.(ended.error);
    step.outcome = `rejected, ${counted === undefined ? showError(ended.error) : String(counted)}`;
    if (counted !== undefined) return counted;
    const allowed = onError === undefined ? "" : ", or is refused as the contract says";
    return fail(`${text} succeeds${allowed}`, showError(ended.error));
  };
  const call = <T, R>(...parts: Parameters<typeof perform<T, R>>): Promise<T | R> => {
    const made = perform(...parts);
    underWay.add(made);
    const end = (): void => void underWay.delete(made);
    made.then(end, end); // so that a call which nobody waits for, because another failed first, is no unhandled rejection
    return made;
  };
  return {
    call,
    open: <T>(text: string, work: () => T | Promise<T>) => call<T, never>(text, work, undefined, () => "open"),
    settled: async () => void (await Promise.allSettled(underWay)),
    fail,
    want(sentence, seen, expected) {
      if (textOfJson(seen) !== textOfJson(expected)) fail(sentence, seen, expected);
    },
  };
}

type Ended<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "late" };

/** How the work ended; "late" when it has not after this time. Never rejects. */
function settle<T>(work: () => T | Promise<T>, milliseconds: number): Promise<Ended<T>> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ kind: "late" }), milliseconds);
    const end = (ended: Ended<T>): void => {
      clearTimeout(timer);
      resolve(ended);
    };
    const begin = async (): Promise<T> => work();
    begin().then(
      (value) => end({ kind: "done", value }),
      (error: unknown) => end({ kind: "failed", error }),
    );
  });
}

function showError(error: unknown): string {
  if (!(error instanceof Error)) return showJson(error);
  const code = "code" in error ? ` (code ${showJson(error.code)})` : "";
  return `${error.name}: ${error.message.slice(0, 500)}${code}`;
}
