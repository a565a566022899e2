import { anObject, checkOptions, type OptionKind } from "../option-check.js";
import type { Registration } from "./definitions.js";
import { checkIcons } from "./registration-kinds.js";

/** Tells what is wrong with one registration. */
export type Say = (message: string) => void;
/** Tells what is wrong, and where. */
export type Fault = (where: string, message: string) => void;

/** How one kind of registration is read. */
interface Reading<D, B> {
  readonly member: string;
  /** The member that tells one from another. */
  readonly key: string;
  readonly kinds: Readonly<Record<string, OptionKind>>;
  nameOf(definition: D): string;
  bind(definition: D, say: Say): B | undefined;
}

/** Binds what can be bound; what all kinds have in common is checked here. */
export function collect<D extends Registration, B>(
  definitions: readonly D[] | undefined,
  fault: Fault,
  { member, key, kinds, nameOf, bind }: Reading<D, B>,
): ReadonlyMap<string, B> {
  const bound = new Map<string, B>();
  const seen = new Set<string>();
  for (const [index, definition] of listOf(definitions).entries()) {
    if (!anObject.fits(definition)) {
      fault(`${member}[${index}]`, "is no object");
      continue;
    }
    const name: unknown = nameOf(definition);
    const place = typeof name === "string" ? `${member}[${index}] ${JSON.stringify(name)}` : `${member}[${index}]`;
    const say = (message: string): void => fault(place, message);
    checkOptions(definition, kinds, { fault: say });
    checkIcons(definition.icons, say);
    if (typeof definition.permission !== "string" || definition.permission === "") say("names no permission");
    const id = typeof name === "string" && name !== "" ? name : undefined;
    if (id === undefined) say(`has no ${key}`);
    else if (seen.has(id)) say("is registered twice");
    else seen.add(id);
    if (id === undefined && key !== "name") continue; // what is left to check of a resource is its address
    const made = bind(definition, say);
    if (made !== undefined && id !== undefined) bound.set(id, made);
  }
  return bound;
}

/** What is no list was told with the options. */
function listOf<D>(given: readonly D[] | undefined): readonly D[] {
  return Array.isArray(given) ? given : [];
}
