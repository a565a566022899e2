/**
 * ECMAScript regular expressions in Unicode mode (ECMA-262 § 22.2), read into a tree for the linear-time matcher.
 * `new RegExp` has checked the syntax before, so this reader only finds the extent of each part. It is never used to
 * match more than one code point: that is what keeps `(a+)+$` from taking exponential time.
 */
import type { StateBudget } from "./budget.js";
import { type CharTest, createCharTest, testCost } from "./char-test.js";
import { PatternRefused } from "./refused.js";

export type PatternTree =
  | { readonly kind: "char"; readonly test: CharTest }
  | { readonly kind: "sequence"; readonly parts: readonly PatternTree[] }
  | { readonly kind: "choice"; readonly parts: readonly PatternTree[] }
  | { readonly kind: "repeat"; readonly part: PatternTree; readonly min: number; readonly max: number }
  | { readonly kind: "edge"; readonly edge: Edge }
  | { readonly kind: "look"; readonly behind: boolean; readonly negative: boolean; readonly part: PatternTree };

/** Assertions that need only the characters beside a position: `^`, `$`, `\b`, `\B`. */
export type Edge = "start" | "end" | "boundary" | "inside";

/** Groups within each other; the reader and the automaton's builder recurse so deep at most. */
const maxGroupDepth = 100;

/** @throws {PatternRefused} no regular expression, or one with a back-reference, a modifier, or too deep groups */
export function parsePattern(source: string, budget: StateBudget): PatternTree {
  checkSyntax(source);
  const reader = new PatternReader(source, budget);
  return reader.choice(0);
}

function checkSyntax(source: string): void {
  try {
    new RegExp(source, "u");
  } catch (cause) {
    throw new PatternRefused(cause instanceof Error ? cause.message : "not a regular expression", "SCHEMA_PATTERN", {
      cause,
    });
  }
}

const quantifierSyntax = /(?:[*+?]|\{(\d+)(,)?(\d*)\})\??/y;

const groupOpenings = [
  { opening: "(?:", look: undefined },
  { opening: "(?=", look: { behind: false, negative: false } },
  { opening: "(?!", look: { behind: false, negative: true } },
  { opening: "(?<=", look: { behind: true, negative: false } },
  { opening: "(?<!", look: { behind: true, negative: true } },
] as const;

class PatternReader {
  readonly #source: string;
  readonly #budget: StateBudget;
  readonly #tests = new Map<string, CharTest>();
  #at = 0;

  constructor(source: string, budget: StateBudget) {
    this.#source = source;
    this.#budget = budget;
  }

  choice(depth: number): PatternTree {
    if (depth > maxGroupDepth) throw new PatternRefused(`groups are nested deeper than ${maxGroupDepth}`);
    const parts = [this.#sequence(depth)];
    while (this.#takes("|")) parts.push(this.#sequence(depth));
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "choice", parts };
  }

  #sequence(depth: number): PatternTree {
    const parts: PatternTree[] = [];
    while (this.#at < this.#source.length && !"|)".includes(this.#peek())) parts.push(this.#repeated(depth));
    return { kind: "sequence", parts };
  }

  #repeated(depth: number): PatternTree {
    const part = this.#atom(depth);
    const reader = new RegExp(quantifierSyntax);
    reader.lastIndex = this.#at;
    const quantifier = reader.exec(this.#source);
    if (quantifier === null) return part;
    this.#at += quantifier[0].length;
    const [text, from, comma, to] = quantifier;
    if (from === undefined)
      return { kind: "repeat", part, min: text[0] === "+" ? 1 : 0, max: text[0] === "?" ? 1 : Infinity };
    const min = Number(from);
    const max = comma === undefined ? min : to === "" || to === undefined ? Infinity : Number(to);
    return { kind: "repeat", part, min, max };
  }

  #atom(depth: number): PatternTree {
    const next = this.#peek();
    if (next === "(") return this.#group(depth);
    if (next === "\\") return this.#escape();
    if (next === "[") return this.#char(this.#classEnd());
    if (this.#takes("^")) return { kind: "edge", edge: "start" };
    if (this.#takes("$")) return { kind: "edge", edge: "end" };
    return this.#char(this.#at + codeUnits(this.#source, this.#at));
  }

  #group(depth: number): PatternTree {
    const found = groupOpenings.find(({ opening }) => this.#takes(opening));
    if (found === undefined) this.#skipCaptureOpening();
    const part = this.choice(depth + 1);
    this.#at += 1;
    return found?.look === undefined ? part : { kind: "look", ...found.look, part };
  }

  #skipCaptureOpening(): void {
    if (this.#takes("(?<")) this.#at = this.#source.indexOf(">", this.#at) + 1;
    else if (this.#source.startsWith("(?", this.#at))
      throw new PatternRefused("modifiers such as (?i:…) are not supported");
    else this.#at += 1;
  }

  #escape(): PatternTree {
    const letter = this.#source.charAt(this.#at + 1);
    if (/[1-9k]/.test(letter)) throw new PatternRefused("back-references cannot be matched in linear time");
    if (this.#takes("\\b")) return { kind: "edge", edge: "boundary" };
    if (this.#takes("\\B")) return { kind: "edge", edge: "inside" };
    return this.#char(this.#escapeEnd(letter));
  }

  #escapeEnd(letter: string): number {
    const at = this.#at;
    if (letter === "p" || letter === "P") return this.#source.indexOf("}", at) + 1;
    if (letter === "x") return at + 4;
    if (letter === "c") return at + 3;
    if (letter !== "u") return at + 1 + codeUnits(this.#source, at + 1);
    if (this.#source[at + 2] === "{") return this.#source.indexOf("}", at) + 1;
    const pair = /^\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/.test(this.#source.slice(at, at + 12));
    return at + (pair ? 12 : 6);
  }

  #classEnd(): number {
    let at = this.#at + 1;
    while (this.#source[at] !== "]") at += this.#source[at] === "\\" ? 2 : 1;
    return at + 1;
  }

  #char(end: number): PatternTree {
    const source = this.#source.slice(this.#at, end);
    this.#at = end;
    const test = this.#tests.get(source) ?? this.#newTest(source);
    this.#tests.set(source, test);
    return { kind: "char", test };
  }

  #newTest(source: string): CharTest {
    this.#budget.take(testCost(source));
    return createCharTest(source);
  }

  #peek(): string {
    return this.#source.charAt(this.#at);
  }

  #takes(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }
}

function codeUnits(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
