import { nextLevel } from "./json-tree.js";

/** Up to this depth a call for each level is safe whatever the caller's own stack, and ten times as fast as lists of each level. */
const maxRecursion = 1_000;

/** How many members the objects in a parsed value have: fewer than were written when a key was there twice. */
export function countMembers(root: unknown, depth: number): number {
  if (!isNode(root)) return 0;
  return depth <= maxRecursion ? countBelow(root) : countByLevel(root);
}

function countBelow(node: object): number {
  let members = 0;
  if (Array.isArray(node)) {
    for (const child of node) if (isNode(child)) members += countBelow(child);
    return members;
  }
  for (const child of Object.values(node)) {
    members++;
    if (isNode(child)) members += countBelow(child);
  }
  return members;
}

function countByLevel(root: object): number {
  let members = 0;
  let level: readonly object[] = [root];
  while (level.length > 0) {
    for (const node of level) if (!Array.isArray(node)) members += Object.keys(node).length;
    level = nextLevel(level);
  }
  return members;
}

function isNode(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
