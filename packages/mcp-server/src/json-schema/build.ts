import type { JsonValue } from "@berth/jsonrpc-framing";
import { checkAnnotations } from "./keywords/annotations.js";
import { checkContains, checkItemCount, checkItems, checkUnique } from "./keywords/arrays.js";
import * as combined from "./keywords/combined.js";
import * as objects from "./keywords/objects.js";
import * as scalars from "./keywords/scalars.js";
import { checkUnevaluatedItems, checkUnevaluatedMembers } from "./keywords/unevaluated.js";
import type { SchemaBounds } from "./limits.js";
import type { Check, Node } from "./node.js";
import { createPatterns, type Patterns } from "./pattern/patterns.js";
import type { Place } from "./place.js";
import { pointerTo } from "./pointer.js";
import type { Library, Location } from "./resources.js";

type Builder = (place: Place) => Check | readonly Check[] | undefined;

/** In the order of application: cheap ones first. */
const builders: readonly Builder[] = [
  checkAnnotations,
  scalars.checkType,
  scalars.checkConst,
  scalars.checkEnum,
  scalars.checkRange,
  scalars.checkMultiple,
  scalars.checkLength,
  scalars.checkPattern,
  objects.checkRequired,
  objects.checkDependentRequired,
  objects.checkMemberCount,
  objects.checkMemberNames,
  objects.checkMembers,
  checkItemCount,
  checkItems,
  checkContains,
  checkUnique,
  combined.checkReference,
  combined.checkDynamicReference,
  combined.checkAllOf,
  combined.checkAnyOf,
  combined.checkOneOf,
  combined.checkNot,
  combined.checkCondition,
  objects.checkDependentSchemas,
];
const lateBuilders: readonly Builder[] = [checkUnevaluatedMembers, checkUnevaluatedItems];

/**
 * Compiles every schema of a library, also those that nothing refers to, so that a fault is told at once. A queue, not
 * recursion: chains of references may be as long as the schema.
 */
export function buildNodes(library: Library, bounds: SchemaBounds): Node {
  const nodes = new Map<JsonValue | Location, Node>();
  const queue: { readonly node: Node; readonly location: Location; readonly keyword: string }[] = [];
  const patterns = createPatterns(bounds);
  const nodeAt = (location: Location, keyword: string): Node => {
    // Objects are one node wherever they are referred to; true and false have no identity.
    const key = typeof location.schema === "boolean" ? location : location.schema;
    const known = nodes.get(key);
    if (known !== undefined) return known;
    const node: Node = { resource: location.resource, checks: [], lateChecks: [] };
    nodes.set(key, node);
    queue.push({ node, location, keyword });
    return node;
  };
  const fill = (node: Node, location: Location, keyword: string): void => {
    if (location.schema === false) node.checks = [refuseAll(keyword)];
    if (typeof location.schema === "boolean") return;
    const place = createPlace(location, library, nodeAt, patterns);
    node.checks = builders.flatMap((build) => build(place) ?? []);
    node.lateChecks = lateBuilders.flatMap((build) => build(place) ?? []);
  };
  const root = nodeAt(library.root, "false");
  for (let next = 0, index = 0; next < queue.length || index < library.locations.length; ) {
    const entry = queue[next];
    const location = library.locations[index];
    if (entry !== undefined) {
      fill(entry.node, entry.location, entry.keyword);
      next += 1;
    } else if (location !== undefined) {
      if (typeof location.schema !== "boolean") nodeAt(location, "false");
      index += 1;
    }
  }
  return root;
}

function createPlace(
  location: Location,
  library: Library,
  nodeAt: (location: Location, keyword: string) => Node,
  patterns: Patterns,
): Place {
  const { schema, resource } = location;
  const pointerOf = (tokens: readonly (string | number)[]): string =>
    tokens.reduce<string>(pointerTo, location.pointer);
  return {
    location,
    read: (keyword) => (typeof schema !== "boolean" && resource.dialect.has(keyword) ? schema[keyword] : undefined),
    node: (value, keyword, ...tokens) =>
      nodeAt(library.childOf(location, value, pointerOf([keyword, ...tokens])), keyword),
    target(reference, keyword) {
      const target = library.locate(reference, location, pointerOf([keyword]));
      return { node: nodeAt(target, keyword), location: target };
    },
    nodeAt: (found) => nodeAt(found, "$dynamicRef"),
    pattern: (source, ...tokens) => patterns.compile(source, pointerOf(tokens)),
  };
}

/** The schema `false`, told under the keyword that it stands in. */
function refuseAll(keyword: string): Check {
  const message = sayings.get(keyword) ?? "nothing is allowed here";
  return (_instance, run) => run.fail(keyword, () => message);
}

const sayings: ReadonlyMap<string, string> = new Map([
  ["additionalProperties", "is not a member that is allowed here"],
  ["unevaluatedProperties", "is not a member that is allowed here"],
  ["items", "is one item too many"],
  ["unevaluatedItems", "is one item too many"],
]);
