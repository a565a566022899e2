/** What no other keyword of the schema has evaluated (Core § 11). */
import { type Check, evaluateMember } from "../node.js";
import { type Place, readNode } from "../place.js";
import { isArray, isObject, memberNames } from "../values.js";

export function checkUnevaluatedMembers(place: Place): Check | undefined {
  const node = readNode(place, "unevaluatedProperties");
  if (node === undefined) return undefined;
  return (instance, run, seen) => {
    if (!isObject(instance)) return true;
    let holds = true;
    for (const name of memberNames(instance, run)) {
      run.spend(1);
      if (seen?.names.has(name)) continue;
      seen?.names.add(name);
      holds = evaluateMember(node, name, instance[name], run) && holds;
      if (!holds && run.mayStop) return false;
    }
    return holds;
  };
}

export function checkUnevaluatedItems(place: Place): Check | undefined {
  const node = readNode(place, "unevaluatedItems");
  if (node === undefined) return undefined;
  return (instance, run, seen) => {
    if (!isArray(instance)) return true;
    let holds = true;
    for (let index = seen?.itemCount ?? 0; index < instance.length; index += 1) {
      run.spend(1);
      if (seen?.indexes.has(index)) continue;
      holds = evaluateMember(node, index, instance[index], run) && holds;
      if (!holds && run.mayStop) return false;
    }
    if (seen !== undefined) seen.itemCount = Math.max(seen.itemCount, instance.length);
    return holds;
  };
}
