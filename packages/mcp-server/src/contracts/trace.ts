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
  /** The last call: waits for those under way, and lets no other be made. */
  close(work: () => void | Promise<void>): Promise<void>;
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
    const wanted = `${sentence}${expected === undefined ? "" : `: ${showJson(expected)}`}`;
    const again = seed === undefined ? "" : `\nagain with { seed: ${seed}, rounds: 1 }`;
    const message = `the contract is broken: ${name}\nwanted: ${wanted}\nseen: ${show(seen)}\n${tellSteps(steps)}${again}`;
    // An operator that Node knows would have it write a difference of its own behind the message.
    throw new AssertionError({ message, actual: seen, expected, operator: "contract", stackStartFn: fail });
  };
  const underWay = new Set<Promise<unknown>>();
  const perform = async <T, R>(
    text: string,
    work: () => T | Promise<T>,
    onError?: (error: unknown) => R | undefined,
    told: (value: T) => string = (value) => showJson(value, maxShownOutcome),
  ): Promise<T | R> => {
    const step: Step = { text, outcome: "not settled" };
    steps.push(step);
    const ended = await settle(work, callMs);
    if (ended.kind === "late") return fail(`${text} settles within ${callMs} ms (callMs)`, "nothing happened");
    if (ended.kind === "done") {
      step.outcome = told(ended.value);
      return ended.value;
    }
    const counted = onError?.(ended.error);
    step.outcome = `rejected, ${counted === undefined ? show(ended.error) : String(counted)}`;
    if (counted !== undefined) return counted;
    const allowed = onError === undefined ? "" : ", or is refused as the contract says";
    return fail(`${text} succeeds${allowed}`, ended.error);
  };
  let isOver = false;
  const call = <T, R>(...parts: Parameters<typeof perform<T, R>>): Promise<T | R> => {
    // Some writers go on when another has failed: the store is not theirs any more.
    if (isOver) return new Promise(() => undefined);
    const made = perform(...parts);
    underWay.add(made);
    const end = (): void => void underWay.delete(made);
    made.then(end, end); // so that a call which nobody waits for, because another failed first, is no unhandled rejection
    return made;
  };
  return {
    call,
    open: <T>(text: string, work: () => T | Promise<T>) => call<T, never>(text, work, undefined, () => "open"),
    async close(work) {
      isOver = true;
      await Promise.allSettled(underWay);
      await perform("close()", work);
    },
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

function tellSteps(steps: readonly Step[]): string {
  const hidden = Math.max(0, steps.length - maxShownSteps);
  const lines = steps.slice(hidden).map(({ text, outcome }, at) => `\n  ${hidden + at + 1}. ${text} -> ${outcome}`);
  return `after these steps${hidden > 0 ? ` (${hidden} before them)` : ""}:${lines.join("")}`;
}

function show(value: unknown): string {
  if (!(value instanceof Error)) return showJson(value);
  const code = "code" in value ? ` (code ${showJson(value.code)})` : "";
  return `${value.name}: ${value.message.slice(0, 500)}${code}`;
}
