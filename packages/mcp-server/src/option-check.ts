import { nearestName } from "./nearest-name.js";

/** What one option has to be. */
export interface OptionKind {
  /** Completes "it has to be": `a function`. */
  readonly needs: string;
  readonly isOptional: boolean;
  fits(value: unknown): boolean;
}

/** Every option by its name. */
export type OptionKinds<Options> = Readonly<Record<keyof Options, OptionKind>>;

/** Where the options are, and what becomes of a fault. */
export interface OptionPlace {
  /** The option of which they are members: `metadata`. Default: none. */
  readonly of?: string | undefined;
  /** Gets a text that names the option, what it is and what it has to be. Where it does not throw, the check goes on. */
  readonly fault?: ((message: string) => void) | undefined;
}

/**
 * Checks a caller's options at the start: a misspelled one would be a rule that nobody misses, and one of another kind an error of which nobody knows whence it
 * comes. No text that was given as an option is told, since it may be a secret.
 * @throws {TypeError} unless `fault` is given.
 */
export function checkOptions(
  given: unknown,
  kinds: Readonly<Record<string, OptionKind>>,
  { of, fault = refuse }: OptionPlace = {},
): void {
  if (!isObject(given)) {
    fault(describeFault(of ?? "the argument", given, "an object"));
    return;
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(kinds, name)) continue;
    fault(describeUnknown(of === undefined ? "option" : `option of ${of}`, name, Object.keys(kinds)));
  }
  for (const [name, { needs, isOptional, fits }] of Object.entries(kinds)) {
    const value: unknown = Reflect.get(given, name);
    if ((isOptional && value === undefined) || (fits(value) && !isThenable(value))) continue;
    fault(describeFault(of === undefined ? name : `${of}.${name}`, value, needs));
  }
}

/** Names the option that was meant, if one is near, and all that there are. */
export function describeUnknown(what: string, name: string, known: readonly string[]): string {
  const meant = nearestName(name.slice(0, maxNameLength), known);
  const hint = meant === undefined ? "" : ` (did you mean "${meant}"?)`;
  return `there is no ${what} "${name}"${hint}; there are ${known.join(", ")}`;
}
/** A longer one is like none of ours, and comparing would take long. */
const maxNameLength = 64;

/** What is wrong with an option, without any text that it holds. */
export function describeFault(name: string, value: unknown, needs: string): string {
  if (isThenable(value)) return `${name} is a promise: await it`;
  return `${name} is ${value === undefined ? "missing" : kindOf(value)}; it has to be ${needs}`;
}

function kindOf(value: unknown): string {
  if (typeof value === "string") return value === "" ? "empty" : "a text";
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return isObject(value) ? "an object" : String(value);
}

function refuse(message: string): never {
  throw new TypeError(message);
}

/** Not as that of `json.ts`: whatever is below it. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isThenable(value: unknown): boolean {
  return isObject(value) && "then" in value && typeof value.then === "function";
}

/** A kind of option. Promises never fit: somebody forgot to await them. */
export function kind(needs: string, fits: (value: unknown) => boolean): OptionKind {
  return { needs, fits, isOptional: false };
}

/** The same, but it may be absent. */
export function optional(of: OptionKind): OptionKind {
  return { ...of, isOptional: true };
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
export const aText: OptionKind = kind("a text that is not empty", isText);
export const aFlag: OptionKind = kind("true or false", (value) => typeof value === "boolean");
export const aFunction: OptionKind = kind("a function", (value) => typeof value === "function");
export const anObject: OptionKind = kind("an object", isObject);
/** Whether a principal is one: whatever the caller likes, but undefined and null are what looking somebody up in vain gives. */
export function isSomebody(value: unknown): boolean {
  return value !== undefined && value !== null && !isThenable(value);
}
export const somebody: OptionKind = kind("somebody: neither undefined nor null", isSomebody);

/** Every entry serves one. */
export const aServer: OptionKind = {
  ...having(["handleMessage", "openConnection"], ""),
  needs: "what createMcpServer returns",
};

/** A list, which may be empty, of texts that are not. */
export function textsOf(what: string): OptionKind {
  return kind(`a list of ${what}`, (value) => Array.isArray(value) && value.every(isText));
}

/** What has these functions, by whatever it was made. */
export function having(functions: readonly string[], what: string): OptionKind {
  const has = (value: object): boolean => functions.every((name) => typeof Reflect.get(value, name) === "function");
  return kind(`${what} (with ${functions.join(", ")})`, (value) => isObject(value) && has(value));
}
