/** Levels kept in one integer; with one bit more it would leave V8's small integers. */
const WORD_LEVELS = 30;

/** The kinds of the brackets that are open, one bit each: 16 MiB of opening brackets take 4 MiB. */
export interface BracketStack {
  /** Opens an array or, with `object`, an object. */
  push(object: boolean): void;
  /** Closes the innermost; false when it is of the other kind or none is open. */
  pop(object: boolean): boolean;
  /** Whether the innermost is an object. */
  inObject(): boolean;
  readonly depth: number;
}

/** See `BracketStack`. */
export function createBracketStack(): BracketStack {
  const full: number[] = [];
  let word = 0;
  let used = 0;
  return {
    push(object) {
      if (used === WORD_LEVELS) {
        full.push(word);
        word = 0;
        used = 0;
      }
      word = (word << 1) | (object ? 1 : 0);
      used++;
    },
    pop(object) {
      if (used === 0) return false;
      const matches = (word & 1) === (object ? 1 : 0);
      word >>= 1;
      used--;
      if (used === 0 && full.length > 0) {
        word = full.pop() ?? 0;
        used = WORD_LEVELS;
      }
      return matches;
    },
    inObject: () => (word & 1) === 1,
    get depth() {
      return full.length * WORD_LEVELS + used;
    },
  };
}
