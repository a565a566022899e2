import { createHash } from "node:crypto";
import { RelayError } from "./errors.js";
import { type JsonNode, printCanonical, readJsonNode, stringOf } from "./json-node.js";
import type { DriftChange } from "./relay-event.js";
import type { PinnedDefinitions } from "./server-policy.js";

/** Member by which a server names a definition: `name` of tools and prompts, `uriTemplate` of resource templates. */
export type NameMember = "name" | "uriTemplate";

/** One definition as a server gave it, in the form that is compared and pinned. */
export interface Definition {
  /** Its `name`, or `uriTemplate`. */
  readonly name: string;
  /** `sha256:HEX` over the UTF-8 bytes of `definition`. */
  readonly digest: string;
  /** Canonical text of the whole object: title, annotations, icons, schemas, `_meta` and members that we do not know included. */
  readonly definition: string;
}

/** One difference between what was accepted and what a server offers. */
export interface DefinitionChange {
  readonly name: string;
  readonly change: DriftChange;
  /** Under `renamed`: the accepted name whose content, the name apart, this definition has. */
  readonly renamedFrom?: string | undefined;
  /** Digest that was accepted; absent for `new` and `renamed`. */
  readonly expected?: string | undefined;
  /** Digest that the server offers now; absent for `withdrawn`. */
  readonly measured?: string | undefined;
}

/**
 * Canonical text of a definition: members sorted, strings as RFC 8785 writes them, number literals kept as written (`1` and `1.0` differ).
 * @throws {RelayError} `DEFINITION_INVALID`: no JSON, no object, a member twice, or nested deeper than 128 levels.
 */
export function canonicalDefinition(json: string | Uint8Array): string {
  return printCanonical(readObjectNode(json));
}

/** `sha256:HEX` over the UTF-8 bytes of a canonical text. */
export function definitionDigest(canonicalText: string): string {
  return `sha256:${createHash("sha256").update(canonicalText).digest("hex")}`;
}

/**
 * Reads one element of a list.
 * @throws {RelayError} `DEFINITION_INVALID`, also when `nameMember` is no string.
 */
export function readDefinition(json: string | Uint8Array, nameMember: NameMember): Definition {
  const node = readObjectNode(json);
  const name = stringOf(node.members.get(nameMember));
  if (name === undefined) throw new RelayError("DEFINITION_INVALID", `${nameMember} must be a string`);
  const definition = printCanonical(node);
  return { name, digest: definitionDigest(definition), definition };
}

/** What changed, in the order of the live list, then what was withdrawn. Equal definitions are left out. */
export function compareDefinitions(
  pinned: PinnedDefinitions,
  live: readonly Definition[],
  nameMember: NameMember,
): DefinitionChange[] {
  const contents = new Map<string, string>();
  const lazily = (): Map<string, string> => {
    if (contents.size > 0) return contents;
    for (const [name, pin] of Object.entries(pinned)) contents.set(contentOf(pin.definition, nameMember), name);
    return contents;
  };
  const changes: DefinitionChange[] = [];
  for (const definition of live) {
    const pin = Object.hasOwn(pinned, definition.name) ? pinned[definition.name] : undefined;
    if (pin?.digest === definition.digest) continue;
    changes.push(changeOf(definition, pin?.digest, lazily().get(contentOf(definition.definition, nameMember))));
  }
  const seen = new Set(live.map(({ name }) => name));
  for (const [name, pin] of Object.entries(pinned)) {
    if (!seen.has(name)) changes.push({ name, change: "withdrawn", expected: pin.digest });
  }
  return changes;
}

function changeOf(live: Definition, expected: string | undefined, sameContentAs: string | undefined): DefinitionChange {
  const { name, digest: measured } = live;
  const renamedFrom = sameContentAs === name ? undefined : sameContentAs;
  if (expected !== undefined) return { name, change: "changed", renamedFrom, expected, measured };
  return { name, change: renamedFrom === undefined ? "new" : "renamed", renamedFrom, measured };
}

/** Canonical text without the name: a digest that is looked up by name alone would miss a definition that moved to another name. */
function contentOf(definition: string, nameMember: NameMember): string {
  const members = new Map(readObjectNode(definition).members);
  members.delete(nameMember);
  return printCanonical({ kind: "object", members });
}

function readObjectNode(json: string | Uint8Array): JsonNode & { kind: "object" } {
  const node = readJsonNode(typeof json === "string" ? json : decode(json));
  if (node.kind !== "object") throw new RelayError("DEFINITION_INVALID", "a definition must be an object");
  return node;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new RelayError("DEFINITION_INVALID", "not UTF-8", { cause });
  }
}
