/** Keywords that look at the items of an array (Core § 10.3.1; Validation § 6.4). */
import { type Check, evaluateMember } from "../node.js";
import { type Place, readCount, readFlag, readNode, readNodes } from "../place.js";
import { equalityKey, isArray } from "../values.js";

export function checkItems(place: Place): Check | undefined {
  const first = readNodes(place, "prefixItems") ?? [];
  const rest = readNode(place, "items");
  if (first.length === 0 && rest === undefined) return undefined;
  return (instance, run, seen) => {
    if (!isArray(instance)) return true;
    const count = rest === undefined ? Math.min(first.length, instance.length) : instance.length;
    if (seen !== undefined) seen.itemCount = Math.max(seen.itemCount, count);
    let holds = true;
    for (let index = 0; index < count; index += 1) {
      run.spend(1);
      const node = first[index] ?? rest;
      if (node === undefined || evaluateMember(node, index, instance[index], run)) continue;
      holds = false;
      if (run.mayStop) return false;
    }
    return holds;
  };
}

export function checkContains(place: Place): Check | undefined {
  const node = readNode(place, "contains");
  const min = readCount(place, "minContains") ?? 1;
  const max = readCount(place, "maxContains") ?? Number.POSITIVE_INFINITY;
  if (node === undefined) return undefined;
  return (instance, run, seen) => {
    if (!isArray(instance)) return true;
    let found = 0;
    for (let index = 0; index < instance.length && found <= max; index += 1) {
      run.spend(1);
      if (!run.silently(() => evaluateMember(node, index, instance[index], run))) continue;
      found += 1;
      seen?.indexes.add(index);
      if (seen === undefined && found >= min && max === Number.POSITIVE_INFINITY) return true;
    }
    if (found < min)
      return run.fail(
        min === 1 ? "contains" : "minContains",
        () => `must have at least ${min} items of the kind that \`contains\` asks for`,
      );
    return (
      found <= max ||
      run.fail("maxContains", () => `must have at most ${max} items of the kind that \`contains\` asks for`)
    );
  };
}

export function checkItemCount(place: Place): Check | undefined {
  const min = readCount(place, "minItems") ?? 0;
  const max = readCount(place, "maxItems") ?? Number.POSITIVE_INFINITY;
  if (min === 0 && max === Number.POSITIVE_INFINITY) return undefined;
  return (instance, run) => {
    if (!isArray(instance)) return true;
    if (instance.length < min) return run.fail("minItems", () => `must have at least ${min} items`);
    return instance.length <= max || run.fail("maxItems", () => `must have at most ${max} items`);
  };
}

export function checkUnique(place: Place): Check | undefined {
  if (!readFlag(place, "uniqueItems")) return undefined;
  return (instance, run) => {
    if (!isArray(instance)) return true;
    const keys = new Map<string, number>();
    for (const [index, item] of instance.entries()) {
      const key = equalityKey(item, run, run.depthLeft - 1);
      const twin = keys.get(key);
      if (twin !== undefined)
        return run.fail("uniqueItems", () => `must have no equal items; ${twin} and ${index} are equal`);
      keys.set(key, index);
    }
    return true;
  };
}
