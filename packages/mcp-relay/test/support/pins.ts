import { type NameMember, type PinnedDefinitions, readDefinition } from "../../src/index.js";

/** Pins of these definitions, as `pin` would write them. */
export function pinsOf(definitions: readonly object[], nameMember: NameMember = "name"): PinnedDefinitions {
  const read = definitions.map((definition) => readDefinition(JSON.stringify(definition), nameMember));
  return Object.fromEntries(read.map(({ name, digest, definition }) => [name, { digest, definition }]));
}
