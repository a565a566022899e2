import type { StateBudget } from "./budget.js";
import type { CharTest } from "./char-test.js";
import type { Edge, PatternTree } from "./parse.js";

/** One state of a nondeterministic automaton; numbers are indexes of states. */
export type State =
  | { readonly kind: "char"; readonly test: CharTest; readonly next: number }
  | { readonly kind: "fork"; readonly targets: number[] }
  | { readonly kind: "edge"; readonly edge: Edge; readonly next: number }
  | { readonly kind: "look"; readonly look: number; readonly negative: boolean; readonly next: number }
  | { readonly kind: "accept" };

/** States from 0, where a match begins, to the accepting one, which is the last. */
export interface Automaton {
  readonly states: readonly State[];
  /** Whether it reads from right to left: for a look-ahead, which asks whether a match begins at a position. */
  readonly backward: boolean;
}

/** A pattern as automata. `looks` are the look-arounds, inner ones first; states of kind `look` name them by index. */
export interface PatternProgram {
  readonly main: Automaton;
  readonly looks: readonly Automaton[];
}

/** Builds the automata of a pattern (Thompson's construction; counted repeats are written out, within the budget). */
export function buildProgram(tree: PatternTree, budget: StateBudget): PatternProgram {
  const looks: Automaton[] = [];
  const main = buildAutomaton(tree, false, looks, budget);
  return { main, looks };
}

function buildAutomaton(tree: PatternTree, backward: boolean, looks: Automaton[], budget: StateBudget): Automaton {
  const writer = new AutomatonWriter(backward, looks, budget);
  writer.write(tree);
  writer.add({ kind: "accept" });
  return { states: writer.states, backward };
}

/** Writes parts one after another; each falls through to the state that is written after it. */
class AutomatonWriter {
  readonly states: State[] = [];
  readonly #backward: boolean;
  readonly #looks: Automaton[];
  readonly #budget: StateBudget;

  constructor(backward: boolean, looks: Automaton[], budget: StateBudget) {
    this.#backward = backward;
    this.#looks = looks;
    this.#budget = budget;
  }

  add(state: State): void {
    this.#budget.take();
    this.states.push(state);
  }

  write(node: PatternTree): void {
    if (node.kind === "char") this.add({ kind: "char", test: node.test, next: this.states.length + 1 });
    else if (node.kind === "edge") this.add({ kind: "edge", edge: node.edge, next: this.states.length + 1 });
    else if (node.kind === "sequence") this.#writeAll(this.#backward ? node.parts.toReversed() : node.parts);
    else if (node.kind === "choice") this.#writeChoice(node.parts);
    else if (node.kind === "repeat") this.#writeRepeat(node.part, node.min, node.max);
    else this.#writeLook(node);
  }

  #writeAll(parts: readonly PatternTree[]): void {
    for (const part of parts) this.write(part);
  }

  #writeLook({ part, behind, negative }: Extract<PatternTree, { kind: "look" }>): void {
    this.#looks.push(buildAutomaton(part, !behind, this.#looks, this.#budget));
    this.add({ kind: "look", look: this.#looks.length - 1, negative, next: this.states.length + 1 });
  }

  /** A fork whose targets the caller fills in; the list is given back. */
  #fork(...targets: number[]): number[] {
    this.add({ kind: "fork", targets });
    return targets;
  }

  #writeChoice(parts: readonly PatternTree[]): void {
    const starts = this.#fork();
    const ends: number[][] = [];
    for (const part of parts) {
      starts.push(this.states.length);
      this.write(part);
      ends.push(this.#fork());
    }
    for (const end of ends) end.push(this.states.length);
  }

  #writeRepeat(part: PatternTree, min: number, max: number): void {
    for (let count = 0; count < min; count += 1) {
      // Paid for even when the part is empty and writes nothing, so that `(){1000000}` ends.
      this.#budget.take();
      this.write(part);
    }
    if (max === Number.POSITIVE_INFINITY) {
      this.#writeLoop(part);
      return;
    }
    const exits: number[][] = [];
    for (let count = min; count < max; count += 1) {
      exits.push(this.#fork(this.states.length + 1));
      this.write(part);
    }
    for (const exit of exits) exit.push(this.states.length);
  }

  #writeLoop(part: PatternTree): void {
    const start = this.states.length;
    const exit = this.#fork(start + 1);
    this.write(part);
    this.#fork(start);
    exit.push(this.states.length);
  }
}
