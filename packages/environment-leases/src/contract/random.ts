/** A source of numbers that a seed decides. Good for checks, not for secrets. */
export interface Random {
  /** A whole number from 0 to `bound - 1`. */
  below(bound: number): number;
  pick<const T>(choices: readonly [T, ...T[]]): T;
}

/** Mulberry32: 32 bits of state, the same numbers everywhere. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * bound);
  };
  return { below, pick: (choices) => choices[below(choices.length)] ?? choices[0] };
}
