/** What an option that counts something may be. */
export interface Range {
  readonly min: number;
  readonly max: number;
  readonly default: number;
}

/** The option's value or its default. */
export function readCount(name: string, value: number | undefined, range: Range): number {
  const count = value ?? range.default;
  if (Number.isInteger(count) && count >= range.min && count <= range.max) return count;
  throw new RangeError(`${name} is ${count}; it must be an integer from ${range.min} to ${range.max}`);
}

/** The option's value or its default, the first of `choices`. */
export function readChoice<T extends string>(name: string, value: T | undefined, choices: readonly [T, ...T[]]): T {
  const choice = value ?? choices[0];
  if (choices.includes(choice)) return choice;
  throw new RangeError(`${name} is ${JSON.stringify(choice)}; it must be one of ${choices.join(", ")}`);
}

/** Refuses misspelled options, which would otherwise quietly leave a default in force. */
export function refuseUnknown(options: object | undefined, known: readonly string[]): void {
  for (const name of Object.keys(options ?? {})) {
    if (!known.includes(name))
      throw new TypeError(`unknown option ${JSON.stringify(name)}; known: ${known.join(", ")}`);
  }
}

/** Largest frame in bytes, for decoders and encoders. */
export const frameBytes: Range = { min: 1, max: 268_435_456, default: 16_777_216 };
