/** Levels kept in one integer; with one more it would leave V8's small integers. */
export const WORD_LEVELS = 30;

/**
 * The kinds of the brackets that are open, one bit each: 16 MiB of opening brackets take 4 MiB.
 */
export interface BracketStack {
  /** Words of outer levels. */
  outer: number[] | undefined;
  /** The innermost levels; the lowest bit is the innermost, and is set for an object. */
  word: number;
  /** How many levels `word` holds; 0 only when nothing is open. */
  used: number;
}

/** A stack with nothing open. */
export function createBracketStack(): BracketStack {
  return { outer: undefined, word: 0, used: 0 };
}

/** 1 for a brace, 0 for a square bracket: the bit in which their bytes differ. */
export function kindOf(bracket: number): number {
  return (bracket >> 5) & 1;
}

/** Opens a level with this opening bracket. */
export function openBracket(stack: BracketStack, bracket: number): void {
  if (stack.used === WORD_LEVELS) {
    stack.outer ??= [];
    stack.outer.push(stack.word);
    stack.word = 0;
    stack.used = 0;
  }
  stack.word = (stack.word << 1) | kindOf(bracket);
  stack.used++;
}

/** Closes the innermost level with this closing bracket; false when that is of the other kind or nothing is open. */
export function closeBracket(stack: BracketStack, bracket: number): boolean {
  if (stack.used === 0 || (stack.word & 1) !== kindOf(bracket)) return false;
  stack.word >>= 1;
  stack.used--;
  if (stack.used === 0 && stack.outer !== undefined && stack.outer.length > 0) {
    stack.word = stack.outer.pop() ?? 0;
    stack.used = WORD_LEVELS;
  }
  return true;
}

/** Whether the innermost level is an object. */
export function inObject(stack: BracketStack): boolean {
  return (stack.word & 1) === 1;
}

/** How many levels are open. */
export function depthOf(stack: BracketStack): number {
  return (stack.outer?.length ?? 0) * WORD_LEVELS + stack.used;
}
