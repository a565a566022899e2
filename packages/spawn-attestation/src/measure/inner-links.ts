import { AttestationError } from "../errors.js";
import { type BytePath, inFolder, parentOf, segmentsOf, shown, topPath } from "./byte-path.js";
import { isIgnored } from "./glob.js";
import type { TreeEntry, TreePlan } from "./walk.js";

const maxLinks = 40;

/**
 * Refuses symlinks of a tree that lead out of it or to what is ignored: what they lead to would run unmeasured.
 * Each is followed over the entries that were listed, not on disk, so that nothing can change in between.
 * @throws {AttestationError} `TREE_LINK_ESCAPES`, `TREE_LINK_LOOP`.
 */
export function refuseEscapes(entries: readonly TreeEntry[], plan: TreePlan): void {
  const links = entries.filter((entry) => entry.leads !== undefined);
  if (links.length === 0) return;
  const listed = new Map(entries.map((entry) => [entry.path, entry]));
  for (const link of links) {
    const fault = followInside(link, listed, plan);
    if (fault !== undefined) throw refusal(link, fault, plan);
  }
}

type LinkFault = "outside" | "ignored" | "loop";

// The kernel's walk (path_resolution(7)) over the listing: a dangling link is fine while its rest cannot climb out.
function followInside(
  link: TreeEntry,
  listed: ReadonlyMap<BytePath, TreeEntry>,
  plan: TreePlan,
): LinkFault | undefined {
  let place = parentOf(link.path);
  let followed = 0;
  const ahead = [link];
  const names: BytePath[] = [];
  for (;;) {
    const next = ahead.pop();
    if (next?.leads !== undefined) {
      followed += 1;
      if (followed > maxLinks) return "loop";
      if (next.leads.startsWith("/")) return "outside";
      names.unshift(...segmentsOf(next.leads));
    }
    const name = names.shift();
    if (name === undefined) return undefined;
    if (name === ".") continue;
    if (name === "..") {
      if (place === topPath) return "outside";
      place = parentOf(place);
      continue;
    }
    const path = inFolder(place, name);
    const entry = listed.get(path);
    if (entry === undefined) {
      if (isIgnored(plan.globs, path)) return "ignored";
      return names.some((rest) => rest === "..") ? "outside" : undefined;
    }
    if (entry.leads !== undefined) ahead.push(entry);
    else place = path;
  }
}

function refusal(link: TreeEntry, fault: LinkFault, plan: TreePlan): AttestationError {
  const where = `symlink ${shown(link.path)} in ${shown(plan.root)}`;
  const leave = `measureIgnore: [${JSON.stringify(shown(link.path))}]`;
  if (fault === "loop") {
    return new AttestationError("TREE_LINK_LOOP", `${where} leads in a circle`, { advice: `leave it out: ${leave}` });
  }
  const to = `${JSON.stringify(shown(link.leads ?? topPath))}, ${fault === "ignored" ? "which is ignored" : "outside"}`;
  return new AttestationError("TREE_LINK_ESCAPES", `${where} leads to ${to}, so what it leads to is not measured`, {
    advice: `replace it by a copy, measure the folder that holds both with measureTarget, or leave it out: ${leave}`,
  });
}
