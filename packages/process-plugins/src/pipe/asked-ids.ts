/** What an id in an answer means that waits for none. */
export type StrayAnswer =
  /** Its call was given up: passed over. */
  | "late"
  /** Never used, or answered already: the plugin is out of step. */
  | "foreign";

/** Which ids were used, and which of them may still be answered although nobody waits. */
export interface AskedIds {
  /** The next id: they count up from 1. */
  take(): number;
  /** Nobody waits for its answer any more. */
  giveUp(id: number): void;
  /** Judges an answer that nobody waits for; the same one cannot come late twice. */
  judge(id: number): StrayAnswer;
}

/** Ids remembered as given up. Beyond it the oldest is forgotten, and whatever comes for it or an older one is taken for late. */
const maxGivenUp = 65_536;

/** Memory is bounded by `maxGivenUp`; ids that were answered need none, since they count up. */
export function createAskedIds(limit: number = maxGivenUp): AskedIds {
  const givenUp = new Set<number>();
  let last = 0;
  let forgottenUpTo = 0;
  return {
    take: () => {
      last += 1;
      return last;
    },
    giveUp: (id) => {
      givenUp.add(id);
      if (givenUp.size <= limit) return;
      for (const oldest of givenUp) {
        givenUp.delete(oldest);
        forgottenUpTo = Math.max(forgottenUpTo, oldest);
        return;
      }
    },
    judge: (id) => {
      if (!Number.isSafeInteger(id) || id < 1 || id > last) return "foreign";
      if (givenUp.delete(id) || id <= forgottenUpTo) return "late";
      return "foreign";
    },
  };
}
