/** Faults that are told of one plugin; how many more there are is told too. */
export const maxProblems = 100;

/** Collects faults, of which a hostile folder may have a hundred thousand. */
export interface ProblemList {
  add(problem: string): void;
  /** The first `maxProblems` of them, and one sentence about the rest. */
  all(): readonly string[];
}

export function createProblemList(): ProblemList {
  const kept: string[] = [];
  let more = 0;
  return {
    add: (problem) => {
      if (kept.length < maxProblems) kept.push(problem);
      else more += 1;
    },
    all: () => (more === 0 ? [...kept] : [...kept, `and ${more} more`]),
  };
}
