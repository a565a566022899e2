import { schemaFault } from "../errors.js";
import type { SchemaBounds } from "../limits.js";
import type { Run } from "../run.js";
import { buildProgram } from "./automaton.js";
import { createStateBudget } from "./budget.js";
import { matchesPattern } from "./match.js";
import { parsePattern } from "./parse.js";
import { PatternRefused } from "./refused.js";

/** Whether a pattern matches anywhere in a text; the work is paid from the run's steps. */
export type TextTest = (text: string, run: Run) => boolean;

/** The patterns of one schema: each text is compiled once, and all share one budget of states. */
export interface Patterns {
  /** @throws {SchemaError} `SCHEMA_PATTERN`, `SCHEMA_TOO_LARGE` */
  compile(source: string, pointer: string): TextTest;
}

export function createPatterns(bounds: SchemaBounds): Patterns {
  const tests = new Map<string, TextTest>();
  const budget = createStateBudget(bounds.maxPatternStates);
  const build = (source: string, pointer: string): TextTest => {
    if (source.length > bounds.maxPatternLength) {
      throw schemaFault(
        "SCHEMA_TOO_LARGE",
        pointer,
        `the pattern has ${source.length} units; ${bounds.maxPatternLength} are allowed (maxPatternLength)`,
      );
    }
    try {
      const program = buildProgram(parsePattern(source, budget), budget);
      return (text, run) => matchesPattern(program, text, (steps) => run.spend(steps));
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error;
      throw schemaFault(error.code, pointer, error.message, { cause: error });
    }
  };
  const compile = (source: string, pointer: string): TextTest => {
    const test = tests.get(source) ?? build(source, pointer);
    tests.set(source, test);
    return test;
  };
  return { compile };
}
