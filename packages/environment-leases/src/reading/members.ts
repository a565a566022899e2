import type { FieldFault } from "../errors.js";

/** Reads one object that somebody wrote, member by member: notes every fault, and goes on with the default. */
export interface Members {
  whole(name: string, bounds: NumberBounds): number | undefined;
  number(name: string, bounds: NumberBounds): number | undefined;
  flag(name: string): boolean | undefined;
  choice<const T extends string>(name: string, choices: readonly T[]): T | undefined;
  text(name: string, bounds: TextBounds): string | undefined;
  /** Each entry by its own reader, which gives undefined for one that it noted a fault for. */
  list<T>(name: string, maxLength: number, read: (entry: unknown, field: string) => T | undefined): readonly T[];
  /** Names to texts. Values are never shown in a fault. */
  texts(name: string, bounds: TextsBounds): Readonly<Record<string, string>>;
  object(name: string, known: readonly string[]): Members | undefined;
  has(name: string): boolean;
  /** As it was given. */
  value(name: string): unknown;
  /** Entries of a list; 0 for what is none. */
  count(name: string): number;
  fault(name: string, fault: string): void;
}

interface NumberBounds {
  readonly min: number;
  readonly max: number;
}
interface TextBounds {
  readonly max: number;
  readonly fits?: RegExp | undefined;
  /** Completes "has to be", where `fits` is given. */
  readonly needs?: string | undefined;
}
interface TextsBounds {
  readonly maxCount: number;
  readonly name: RegExp;
  readonly maxValue: number;
}

/** `field` is the path of `value` itself: empty at the top. */
export function readMembers(
  value: unknown,
  field: string,
  known: readonly string[],
  faults: FieldFault[],
): Members | undefined {
  const note = (at: string, fault: string): void => void faults.push({ field: at, fault });
  if (!isObject(value)) {
    note(field, `has to be an object, was ${shownValue(value)}`);
    return undefined;
  }
  const path = (name: string): string => (field === "" ? name : `${field}.${name}`);
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) note(path(name.slice(0, 64)), `there is no such member; there are ${known.join(", ")}`);
  }
  const at = (name: string): unknown => Reflect.get(value, name);
  const fault = (name: string, told: string): void => note(path(name), told);
  const refuse = (name: string, needs: string): undefined => {
    fault(name, `has to be ${needs}, was ${shownValue(at(name))}`);
  };
  const place: Place = { at, path, fault, refuse };
  return {
    whole: (name, bounds) => readNumber(place, name, { ...bounds, isWhole: true }),
    number: (name, bounds) => readNumber(place, name, { ...bounds, isWhole: false }),
    flag: (name) => readFlag(place, name),
    choice(name, choices) {
      const given = at(name);
      if (given === undefined) return undefined;
      return choices.find((choice) => choice === given) ?? refuse(name, `one of ${choices.join(", ")}`);
    },
    text: (name, bounds) => readText(place, name, bounds),
    list: (name, maxLength, read) => readList(place, name, maxLength, read),
    texts: (name, bounds) => readTexts(place, name, bounds),
    object: (name, inner) => (at(name) === undefined ? undefined : readMembers(at(name), path(name), inner, faults)),
    has: (name) => at(name) !== undefined,
    value: at,
    count(name) {
      const given = at(name);
      return Array.isArray(given) ? given.length : 0;
    },
    fault,
  };
}

/** One object that is read. */
interface Place {
  at(name: string): unknown;
  path(name: string): string;
  fault(name: string, told: string): void;
  /** Notes what it has to be and what it was. */
  refuse(name: string, needs: string): undefined;
}

function readNumber(
  { at, refuse }: Place,
  name: string,
  { min, max, isWhole }: NumberBounds & { readonly isWhole: boolean },
): number | undefined {
  const given = at(name);
  if (given === undefined) return undefined;
  const fits = typeof given === "number" && given >= min && given <= max && (!isWhole || Number.isInteger(given));
  return fits ? given : refuse(name, `${isWhole ? "a whole number" : "a number"} from ${min} to ${max}`);
}

function readFlag({ at, refuse }: Place, name: string): boolean | undefined {
  const given = at(name);
  return given === undefined || typeof given === "boolean" ? given : refuse(name, "true or false");
}

function readText({ at, refuse }: Place, name: string, bounds: TextBounds): string | undefined {
  const given = at(name);
  if (given === undefined) return undefined;
  if (typeof given === "string" && fitsText(given, bounds)) return given;
  return refuse(name, bounds.needs ?? `1 to ${bounds.max} characters without NUL`);
}

function readList<T>(
  { at, path, fault, refuse }: Place,
  name: string,
  maxLength: number,
  read: (entry: unknown, field: string) => T | undefined,
): readonly T[] {
  const given = at(name);
  if (given === undefined) return [];
  if (!Array.isArray(given)) refuse(name, "a list");
  else if (given.length > maxLength) fault(name, `may have ${maxLength} entries, had ${given.length}`);
  else {
    const entries: unknown[] = given;
    return entries.flatMap((entry, index) => read(entry, `${path(name)}[${index}]`) ?? []);
  }
  return [];
}

function fitsText(given: string, { max, fits }: TextBounds): boolean {
  return given.length >= 1 && given.length <= max && !given.includes("\0") && (fits?.test(given) ?? true);
}

function readTexts(
  { at, fault, refuse }: Place,
  name: string,
  { maxCount, name: nameOf, maxValue }: TextsBounds,
): Readonly<Record<string, string>> {
  const given = at(name) ?? {};
  if (!isObject(given)) refuse(name, "an object");
  const entries: [string, unknown][] = isObject(given) ? Object.entries(given) : [];
  if (entries.length > maxCount) fault(name, `may have ${maxCount} members, had ${entries.length}`);
  const kept: [string, string][] = [];
  for (const [key, value] of entries.slice(0, maxCount)) {
    const member = `${name}.${key.slice(0, 64)}`;
    if (!nameOf.test(key)) fault(member, `its name has to match ${nameOf.source}`);
    else if (typeof value !== "string" || value.length > maxValue || value.includes("\0")) {
      fault(member, `has to be a text of at most ${maxValue} characters without NUL`);
    } else kept.push([key, value]);
  }
  // Not by assignment: a member named __proto__ would set something else.
  return Object.freeze(Object.fromEntries(kept));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const maxShownValue = 80;

/** A value for a person to read, in bounded length. */
export function shownValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, maxShownValue));
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return value === undefined ? "missing" : `a ${typeof value}`;
}
