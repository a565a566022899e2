import { ConfinementError } from "../errors.js";
import type { AskedMount, Mount } from "./mounts.js";

/** What bubblewrap mounts by itself. */
const ownMounts = ["/proc", "/dev", "/sys"];

/**
 * Puts the system's mounts, the policy's and the program's own trees together. No mount may lie below another or hide it: what
 * is seen at a path would depend on their order, and a place inside a writable tree could be prepared by the sandbox.
 * @throws {ConfinementError} `POLICY_INVALID`, with the member of the policy.
 */
export function placeMounts(
  system: readonly Mount[],
  asked: readonly AskedMount[],
  programTrees: readonly string[],
): readonly Mount[] {
  const taken = [...ownMounts, ...system.map(({ target }) => target)];
  asked.forEach(({ field, mount }, index) => {
    const others = [...taken, ...asked.slice(0, index).map((other) => other.mount.target)];
    refuseOverlap(field, mount.target, others);
  });
  const missing = programTrees.filter((tree) => !asked.some(({ mount }) => shows(mount, tree)));
  for (const tree of missing) {
    const clash = asked.find(({ mount }) => overlap(mount.target, tree));
    if (clash !== undefined) refuseOverlap(clash.field, clash.mount.target, [tree]);
  }
  const trees: readonly Mount[] = missing.map((tree) => ({ kind: "read", source: tree, target: tree }));
  return [...system, ...asked.map(({ mount }) => mount), ...outermost(trees)];
}

function refuseOverlap(field: string, target: string, others: readonly string[]): void {
  const own = target === "/tmp" ? "/tmp" : others.find((other) => overlap(target, other));
  if (own === undefined && target !== "/") return;
  throw new ConfinementError(
    "POLICY_INVALID",
    `${field}: the target ${target} hides, or lies below, ${own ?? "everything"}`,
    { field, cure: "choose a target that has nothing to do with the others, such as one below /opt or /srv" },
  );
}

function overlap(one: string, other: string): boolean {
  return one === other || isBelow(one, other) || isBelow(other, one);
}

function isBelow(path: string, top: string): boolean {
  return path.startsWith(top === "/" ? "/" : `${top}/`);
}

/** Whether a bind of the caller's already shows this tree at its own path. */
function shows(mount: Mount, tree: string): boolean {
  return (
    mount.kind === "read" && mount.source === mount.target && (tree === mount.source || isBelow(tree, mount.source))
  );
}

function outermost(trees: readonly Mount[]): readonly Mount[] {
  const different = trees.filter((tree, index) => trees.findIndex(({ target }) => target === tree.target) === index);
  return different.filter((tree) => !different.some((other) => isBelow(tree.target, other.target)));
}
