import type { DocumentProblem } from "./document.js";

/** What is wrong with a file in words, for a CommandError: how much, and a line `PATH:LINE  MESSAGE` for each. */
export function describeProblems(
  what: string,
  path: string,
  problems: readonly DocumentProblem[],
): { readonly message: string; readonly lines: readonly string[] } {
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  return { message: `${what} has ${count}`, lines: problems.map(({ line, message }) => `${path}:${line}  ${message}`) };
}
