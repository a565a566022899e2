import { StdioTransportError } from "./errors.js";

interface Range {
  readonly least: number;
  readonly most: number;
  /** Used when the option is absent. */
  readonly otherwise: number;
}

/** @throws {StdioTransportError} `OPTION_INVALID` unless it is an integer in the range. */
export function readNumber(name: string, value: number | undefined, range: Range): number {
  const number = value ?? range.otherwise;
  if (Number.isInteger(number) && number >= range.least && number <= range.most) return number;
  const message = `${name} must be an integer from ${range.least} to ${range.most}, not ${number}`;
  throw new StdioTransportError("OPTION_INVALID", message);
}

/**
 * The first choice is used when the option is absent.
 * @throws {StdioTransportError} `OPTION_INVALID` unless it is one of them.
 */
export function readChoice<T extends string>(name: string, value: T | undefined, choices: readonly [T, ...T[]]): T {
  const choice = value ?? choices[0];
  if (choices.includes(choice)) return choice;
  throw new StdioTransportError("OPTION_INVALID", `${name} must be one of ${choices.join(", ")}, not ${choice}`);
}

/** @throws {StdioTransportError} `OPTION_INVALID` for a key that is none of these: most likely a misspelled one. */
export function refuseUnknown(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new StdioTransportError("OPTION_INVALID", `unknown option "${unknown}"; known: ${known.join(", ")}`);
}
