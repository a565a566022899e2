import type { JsonObject } from "@berth/jsonrpc-framing";
import { deepFreeze, isObject, toJson } from "../json.js";
import { anObject, checkOptions, kind, type OptionKind, type OptionKinds, optional } from "../option-check.js";
import type { ProtocolRevision } from "../revisions.js";
import type { Say } from "./collect.js";
import type { Icon } from "./content.js";
import { someText } from "./registration-kinds.js";
import { knows } from "./render.js";

/** What every relayed thing has, as whoever uses this package gave it: it may be anything. */
interface GivenRelay {
  readonly permission: unknown;
  readonly definition: unknown;
}

/** A definition of another server, checked. */
export interface RelayedDefinition {
  readonly name: string;
  readonly permission: string;
  readonly definition: JsonObject;
}

/** How one kind of definition is read. */
export interface DefinitionReading {
  /** The member that tells one from another. */
  readonly key: "name" | "uri" | "uriTemplate";
  /** Functions that the registration needs. */
  readonly functions: readonly string[];
  /** Members that are looked at: strict clients would refuse the whole list over one of another kind. Others stay as they are. */
  readonly kinds: Readonly<Record<string, OptionKind>>;
}

/** Reads what all kinds have in common; what is wrong is said. */
export function readRelayed(
  given: GivenRelay,
  { key, functions, kinds }: DefinitionReading,
  say: Say,
): RelayedDefinition | undefined {
  if (!anObject.fits(given)) {
    say("is no object");
    return undefined;
  }
  const { permission } = given;
  const definition = ownCopy(given.definition);
  const isNamed = typeof permission === "string" && permission !== "";
  if (!isNamed) say("names no permission");
  for (const name of functions) if (typeof Reflect.get(given, name) !== "function") say(`has no ${name} function`);
  const name = definition?.[key];
  if (definition === undefined || typeof name !== "string") {
    say(`has no definition with a ${key}`);
    return undefined;
  }
  checkMembers(definition, kinds, say);
  return isNamed ? { name, permission, definition } : undefined;
}

/** What whoever gave it does to it later changes nothing of what is shown. */
function ownCopy(definition: unknown): JsonObject | undefined {
  if (!isObject(definition)) return undefined;
  try {
    return deepFreeze(toJson(definition));
  } catch {
    return undefined; // no JSON: as if it had none
  }
}

function checkMembers(definition: JsonObject, kinds: Readonly<Record<string, OptionKind>>, fault: Say): void {
  checkOptions(knownOf(definition, kinds), kinds, { fault });
}

function knownOf(given: object, kinds: Readonly<Record<string, OptionKind>>): object {
  return Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(kinds, name)));
}

/** A definition as clients of a revision before 2026-07-28 know it. */
export function shownOf(
  definition: JsonObject,
  revision: ProtocolRevision,
  always: readonly string[],
  since: readonly ("title" | "icons" | "annotations" | "outputSchema" | "_meta")[],
): Record<string, unknown> {
  const members = [...always, ...since.filter((member) => knows(revision, member))];
  return Object.fromEntries(
    members.flatMap((member) => (Object.hasOwn(definition, member) ? [[member, definition[member]]] : [])),
  );
}

/** An object whose members are of these kinds; others stay as they are. */
export function anObjectOf(needs: string, kinds: Readonly<Record<string, OptionKind>>): OptionKind {
  return kind(needs, (value) => anObject.fits(value) && fitsAll(Object(value), kinds));
}

/** A list of such objects. */
export function aListOf(needs: string, kinds: Readonly<Record<string, OptionKind>>): OptionKind {
  const each = anObjectOf("", kinds);
  return kind(needs, (value) => Array.isArray(value) && value.every(each.fits));
}

function fitsAll(value: object, kinds: Readonly<Record<string, OptionKind>>): boolean {
  let fits = true;
  checkOptions(knownOf(value, kinds), kinds, {
    fault: () => {
      fits = false;
    },
  });
  return fits;
}

const aString = kind("a text", (value) => typeof value === "string");
const iconKinds = {
  src: aString,
  mimeType: someText,
  sizes: optional(kind("texts", (value) => Array.isArray(value) && value.every(aString.fits))),
  theme: optional(kind('"light" or "dark"', (value) => value === "light" || value === "dark")),
} as const satisfies OptionKinds<Icon>;

/** Members that all kinds of definitions may have. */
export const commonKinds: Readonly<Record<"title" | "description" | "icons" | "_meta", OptionKind>> = {
  title: someText,
  description: someText,
  icons: optional(aListOf("a list of icons", iconKinds)),
  _meta: optional(anObject),
};

/** Characters that a terminal acts on or that hide text: controls, bidi marks, zero-width and tag characters, lone surrogates. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/u;

/** Whether everybody who reads a text sees all of it. */
export function isVisible(text: string): boolean {
  return !unseen.test(text);
}
