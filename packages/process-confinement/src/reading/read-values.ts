import { ConfinementError, type ConfinementErrorCode } from "../errors.js";

/** The bounds of a number, both included. */
export interface Range {
  readonly least: number;
  readonly most: number;
}

/** Reads the members of one document. Every fault names the member as a path, the value and the limit. */
export interface ValueReader {
  /** Throws: `limits.processes must be …, not …`. */
  fail(field: string, expected: string, value: unknown): never;
  /** Throws for a member that is none of these: most likely a misspelled one. */
  refuseUnknown(field: string, value: object, known: readonly string[]): void;
  object(field: string, value: unknown): object;
  integer(field: string, value: unknown, range: Range): number;
  number(field: string, value: unknown, range: Range): number;
  flag(field: string, value: unknown): boolean;
  /** A function, or undefined where it may be left out. */
  callback<T extends ((...given: never[]) => unknown) | undefined>(field: string, value: T): T;
  choice<T extends string>(field: string, value: unknown, choices: readonly T[]): T;
  /** A string without NUL of at most so many UTF-16 units. */
  text(field: string, value: unknown, most: number): string;
  /** An absolute path in its shortest form: no `..`, no `.`, no doubled slash. */
  path(field: string, value: unknown): string;
}

const maxPathLength = 4_095;

/** A reader whose faults have this code. */
export function createReader(code: ConfinementErrorCode): ValueReader {
  const fail = (field: string, expected: string, value: unknown): never => {
    throw new ConfinementError(code, `${field} must be ${expected}, not ${show(value)}`, { field });
  };
  const object = (field: string, value: unknown): object =>
    typeof value === "object" && value !== null && !Array.isArray(value) ? value : fail(field, "an object", value);
  const within = (field: string, value: unknown, range: Range, isKind: (value: unknown) => boolean, kind: string) =>
    typeof value === "number" && isKind(value) && value >= range.least && value <= range.most
      ? value
      : fail(field, `${kind} from ${range.least} to ${range.most}`, value);
  const text = (field: string, value: unknown, most: number): string =>
    typeof value === "string" && value.length <= most && !value.includes("\0")
      ? value
      : fail(field, `a string of at most ${most} characters without NUL`, value);
  return {
    fail,
    object,
    text,
    refuseUnknown: (field, value, known) => {
      const unknown = Object.keys(value).find((key) => !known.includes(key));
      if (unknown === undefined) return;
      const path = field === "" ? unknown : `${field}.${unknown}`;
      throw new ConfinementError(code, `${path} is not known; known are ${known.join(", ")}`, { field: path });
    },
    integer: (field, value, range) => within(field, value, range, Number.isInteger, "an integer"),
    number: (field, value, range) => within(field, value, range, Number.isFinite, "a number"),
    flag: (field, value) => (typeof value === "boolean" ? value : fail(field, "true or false", value)),
    callback: (field, value) =>
      value === undefined || typeof value === "function" ? value : fail(field, "a function", value),
    choice: (field, value, choices) =>
      choices.find((choice) => choice === value) ?? fail(field, `one of ${choices.join(", ")}`, value),
    path: (field, value) => {
      const path = text(field, value, maxPathLength);
      return isPlainPath(path) ? path : fail(field, "an absolute path without . or .. or empty parts", value);
    },
  };
}

function isPlainPath(path: string): boolean {
  if (path === "/") return true;
  const [first, ...parts] = path.split("/");
  return first === "" && parts.length > 0 && parts.every((part) => part !== "" && part !== "." && part !== "..");
}

const maxShown = 200;

/** A value of a caller for a message. Functions and the like by their kind. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}…`;
}
