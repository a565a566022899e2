import type { Automaton, PatternProgram, State } from "./automaton.js";
import { isWordCharacter } from "./char-test.js";
import type { Edge } from "./parse.js";

/** Pays for work; throws when the budget of the run is spent. */
export type Spend = (steps: number) => void;

/** The subject as code points, and for each look-around built so far where it holds. */
interface Subject {
  readonly points: Uint32Array;
  readonly looks: Uint8Array[];
}

/**
 * Whether a pattern matches anywhere in a text. Time is at most the text's length times the pattern's states: all
 * states are followed at once, and none is visited twice at a position. Every visit is paid for as a step.
 */
export function matchesPattern(program: PatternProgram, text: string, spend: Spend): boolean {
  spend(1 + text.length);
  const subject: Subject = { points: codePoints(text), looks: [] };
  for (const look of program.looks) {
    const holds = new Uint8Array(subject.points.length + 1);
    walk(look, subject, spend, (position) => {
      holds[position] = 1;
      return false;
    });
    subject.looks.push(holds);
  }
  return walk(program.main, subject, spend, () => true);
}

function codePoints(text: string): Uint32Array {
  const points = new Uint32Array(text.length);
  let count = 0;
  for (const character of text) {
    points[count] = character.codePointAt(0) ?? 0;
    count += 1;
  }
  return points.subarray(0, count);
}

/**
 * Follows the automaton from every position at once. `onMatch` gets each position where a match ends (begins, for one
 * that reads backward) and says whether to stop. Hot loop: one turn a state and position.
 */
function walk(automaton: Automaton, subject: Subject, spend: Spend, onMatch: (position: number) => boolean): boolean {
  const { states, backward } = automaton;
  const { points } = subject;
  const accept = states.length - 1;
  const visitedAt = new Int32Array(states.length).fill(-1);
  let waiting: number[] = [];
  for (let turn = 0; turn <= points.length; turn += 1) {
    const position = backward ? points.length - turn : turn;
    const point = points[backward ? position - 1 : position];
    const pending = waiting;
    pending.push(0);
    waiting = [];
    let visits = 0;
    while (pending.length > 0) {
      const index = pending.pop() ?? accept;
      if (visitedAt[index] === turn) continue;
      visitedAt[index] = turn;
      visits += 1;
      const state = states[index];
      if (state === undefined) continue;
      if (state.kind === "char") {
        if (point !== undefined && state.test(point)) waiting.push(state.next);
      } else if (state.kind === "fork") {
        visits += state.targets.length;
        for (const target of state.targets) pending.push(target);
      } else if (state.kind !== "accept" && passes(state, position, subject)) pending.push(state.next);
    }
    spend(visits);
    if (visitedAt[accept] === turn && onMatch(position)) return true;
  }
  return false;
}

function passes(state: Extract<State, { kind: "edge" | "look" }>, position: number, subject: Subject): boolean {
  if (state.kind === "look") return (subject.looks[state.look]?.[position] === 1) !== state.negative;
  return isEdge(state.edge, position, subject.points);
}

function isEdge(edge: Edge, position: number, points: Uint32Array): boolean {
  if (edge === "start") return position === 0;
  if (edge === "end") return position === points.length;
  const boundary = isWordCharacter(points[position - 1]) !== isWordCharacter(points[position]);
  return boundary === (edge === "boundary");
}
