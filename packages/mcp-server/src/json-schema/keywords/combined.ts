/** Keywords that apply schemas to the same place (Core §§ 8.2.3, 10.2). */
import { type Check, evaluate } from "../node.js";
import { type Place, readNode, readNodes, readText } from "../place.js";
import { splitUri } from "../uri.js";

export function checkReference(place: Place): Check | undefined {
  const reference = readText(place, "$ref");
  if (reference === undefined) return undefined;
  const { node } = place.target(reference, "$ref");
  return (instance, run, seen) => evaluate(node, instance, run, seen);
}

/** Core § 8.2.3.2: a name that `$dynamicAnchor` gave means the outermost schema of that name in the dynamic scope. */
export function checkDynamicReference(place: Place): Check | undefined {
  const reference = readText(place, "$dynamicRef");
  if (reference === undefined) return undefined;
  const { node, location } = place.target(reference, "$dynamicRef");
  const [, name] = splitUri(reference, place.location.pointer);
  if (location.resource.dynamicAnchors.get(name) !== location)
    return (instance, run, seen) => evaluate(node, instance, run, seen);
  return (instance, run, seen) => {
    run.spend(run.scopes.length);
    const outermost = run.scopes.find((resource) => resource.dynamicAnchors.has(name))?.dynamicAnchors.get(name);
    return evaluate(outermost === undefined ? node : place.nodeAt(outermost), instance, run, seen);
  };
}

export function checkAllOf(place: Place): Check | undefined {
  const nodes = readNodes(place, "allOf");
  if (nodes === undefined) return undefined;
  return (instance, run, seen) => {
    let holds = true;
    for (const node of nodes) {
      if (evaluate(node, instance, run, seen)) continue;
      holds = false;
      if (run.mayStop) return false;
    }
    return holds;
  };
}

export function checkAnyOf(place: Place): Check | undefined {
  const nodes = readNodes(place, "anyOf");
  if (nodes === undefined) return undefined;
  return (instance, run, seen) => {
    const mark = run.problems.length;
    let holds = false;
    for (const node of nodes) {
      if (!evaluate(node, instance, run, seen)) continue;
      holds = true;
      // Where someone asks what was evaluated, each branch that holds counts.
      if (seen === undefined) break;
    }
    if (!holds) return run.failBefore(mark, "anyOf", () => `must hold one of ${nodes.length} alternatives`);
    run.forget(mark);
    return true;
  };
}

export function checkOneOf(place: Place): Check | undefined {
  const nodes = readNodes(place, "oneOf");
  if (nodes === undefined) return undefined;
  return (instance, run, seen) => {
    const mark = run.problems.length;
    let count = 0;
    for (const node of nodes) {
      if (evaluate(node, instance, run, seen)) count += 1;
      if (count > 1) break;
    }
    if (count === 0) return run.failBefore(mark, "oneOf", () => `must hold one of ${nodes.length} alternatives`);
    run.forget(mark);
    return count === 1 || run.fail("oneOf", () => `must hold only one of ${nodes.length} alternatives`);
  };
}

export function checkNot(place: Place): Check | undefined {
  const node = readNode(place, "not");
  if (node === undefined) return undefined;
  return (instance, run) =>
    !run.silently(() => evaluate(node, instance, run, undefined)) ||
    run.fail("not", () => "must not hold what `not` describes");
}

export function checkCondition(place: Place): Check | undefined {
  const condition = readNode(place, "if");
  const consequence = readNode(place, "then");
  const alternative = readNode(place, "else");
  if (condition === undefined) return undefined;
  return (instance, run, seen) => {
    const met = run.silently(() => evaluate(condition, instance, run, seen));
    const node = met ? consequence : alternative;
    return node === undefined || evaluate(node, instance, run, seen);
  };
}
