import type { SchemaBounds } from "./limits.js";
import { pointerTo } from "./pointer.js";
import type { Resource } from "./resources.js";

/** Why an instance does not hold. Neither text repeats a value of the instance. */
export interface SchemaProblem {
  /** JSON Pointer of the place in the instance; "" for the whole. At most 512 characters, then cut. */
  readonly path: string;
  /** The keyword that does not hold; `false` for the schema `false`. */
  readonly keyword: string;
  /** What the place must be, for people and models. At most 300 characters, then cut. */
  readonly message: string;
}

/** The limits that can end a validation. */
export type ValidationLimit = "maxSteps" | "maxInstanceDepth" | "maxEvaluationDepth";

/** Ends a run: thrown through all keywords, so that `not` cannot take a limit for a failure. Never leaves `validate`. */
export class LimitReached extends Error {
  readonly limit: ValidationLimit;
  constructor(limit: ValidationLimit) {
    super(limit);
    this.limit = limit;
  }
}

const maxPathLength = 512;
const maxMessageLength = 300;
/** Steps for wording a problem. */
const problemSteps = 50;

/** One validation under way: its budget, its place in the instance, and what was found. */
export class Run {
  /** Resources entered, outermost first (Core § 7.1, dynamic scope). */
  readonly scopes: Resource[] = [];
  readonly problems: SchemaProblem[] = [];
  readonly #bounds: SchemaBounds;
  readonly #path: (string | number)[] = [];
  readonly #tells: boolean;
  #silent = 0;
  #steps = 0;
  #depth = 0;

  /** `tells`: whether problems are worded and collected, or only the verdict is wanted. */
  constructor(bounds: SchemaBounds, tells: boolean) {
    this.#bounds = bounds;
    this.#tells = tells;
  }

  /** The one step counter: every loop over an instance or a schema pays here before or while it turns. */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#bounds.maxSteps) throw new LimitReached("maxSteps");
  }

  enterSchema(): void {
    this.#depth += 1;
    if (this.#depth > this.#bounds.maxEvaluationDepth) throw new LimitReached("maxEvaluationDepth");
  }

  leaveSchema(): void {
    this.#depth -= 1;
  }

  enterMember(token: string | number): void {
    if (this.#path.length >= this.#bounds.maxInstanceDepth) throw new LimitReached("maxInstanceDepth");
    this.#path.push(token);
  }

  leaveMember(): void {
    this.#path.pop();
  }

  /** Levels that may still be entered below the present place. */
  get depthLeft(): number {
    return this.#bounds.maxInstanceDepth - this.#path.length;
  }

  /** Whether a schema that failed may stop, since no further problem would be told. */
  get mayStop(): boolean {
    return !this.#tells || this.#silent > 0 || this.problems.length >= this.#bounds.maxProblems;
  }

  /** Records a problem at the present place; always false, for `return run.fail(…)`. */
  fail(keyword: string, message: () => string): false {
    if (!this.mayStop) this.problems.push(this.#problem(keyword, message()));
    return false;
  }

  /** Runs without telling problems: where a failure is not one of the whole. */
  silently(apply: () => boolean): boolean {
    this.#silent += 1;
    const holds = apply();
    this.#silent -= 1;
    return holds;
  }

  /** Forgets the problems told since there were `count`: they were of a branch that need not hold. */
  forget(count: number): void {
    if (this.#silent === 0) this.problems.length = Math.min(count, this.problems.length);
  }

  /** Puts a problem before those told since there were `count`, which then explain it. */
  failBefore(count: number, keyword: string, message: () => string): false {
    if (!this.#tells || this.#silent > 0) return false;
    this.problems.splice(count, 0, this.#problem(keyword, message()));
    this.problems.length = Math.min(this.problems.length, this.#bounds.maxProblems);
    return false;
  }

  #problem(keyword: string, message: string): SchemaProblem {
    this.spend(problemSteps);
    return { path: this.#pointer(), keyword, message: shown(message) };
  }

  /** Ends once it is long enough: names in an instance may be megabytes, and problems of a branch come by the million. */
  #pointer(): string {
    let pointer = "";
    for (const token of this.#path) {
      pointer = pointerTo(pointer, typeof token === "string" ? token.slice(0, maxPathLength) : token);
      if (pointer.length > maxPathLength) break;
    }
    return cut(pointer, maxPathLength);
  }
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** A message, cut to its greatest length. Long ones are cut when the schema is compiled, not each time they are told. */
export function shown(message: string): string {
  return cut(message, maxMessageLength);
}

/** A name from a schema or an instance, quoted and short, for messages. */
export function quoted(name: string): string {
  return JSON.stringify(cut(name, 64));
}
