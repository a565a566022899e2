import type { Notice, NoticeCode, Problem, ProblemCode } from "./report.js";

/** Collects what a verifier finds: the first so many of each kind, and the count of all. */
export interface Findings {
  /** Where the line begins that the next findings are about. */
  at(segment: string, offset: number): void;
  readonly place: { readonly segment: string; readonly offset: number };
  problem(code: ProblemCode, seq: number, message: string): void;
  notice(code: NoticeCode, seq: number, message: string): void;
  readonly problems: readonly Problem[];
  readonly problemCount: number;
  readonly notices: readonly Notice[];
  readonly noticeCount: number;
}

/** Findings that keep at most `max` of each kind. */
export function createFindings(max: number): Findings {
  const problems: Problem[] = [];
  const notices: Notice[] = [];
  let problemCount = 0;
  let noticeCount = 0;
  let place = { segment: "", offset: 0 };
  return {
    problems,
    notices,
    get problemCount() {
      return problemCount;
    },
    get noticeCount() {
      return noticeCount;
    },
    get place() {
      return place;
    },
    at: (segment, offset) => {
      place = { segment, offset };
    },
    problem: (code, seq, message) => {
      problemCount += 1;
      if (problems.length < max) problems.push({ seq, code, message, ...place });
    },
    notice: (code, seq, message) => {
      noticeCount += 1;
      if (notices.length < max) notices.push({ seq, code, message, ...place });
    },
  };
}
