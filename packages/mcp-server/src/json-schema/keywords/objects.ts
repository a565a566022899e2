/** Keywords that look at the members of an object (Core §§ 10.3.2, 10.2.2.4; Validation § 6.5). */
import { type Check, evaluate, evaluateMember, type Node } from "../node.js";
import { type Place, readCount, readNameLists, readNames, readNode, readNodeMap, readPatternMap } from "../place.js";
import { quoted, type Run } from "../run.js";
import { hasMember, isObject, memberNames } from "../values.js";

export function checkMembers(place: Place): Check | undefined {
  const properties = readNodeMap(place, "properties");
  const patterns = readPatternMap(place, "patternProperties");
  const additional = readNode(place, "additionalProperties");
  if (properties === undefined && patterns.length === 0 && additional === undefined) return undefined;
  const nodesFor = (name: string, run: Run): readonly Node[] => {
    const named = properties?.get(name);
    const nodes = named === undefined ? [] : [named];
    for (const [matches, node] of patterns) if (matches(name, run)) nodes.push(node);
    return nodes.length === 0 && additional !== undefined ? [additional] : nodes;
  };
  return (instance, run, seen) => {
    if (!isObject(instance)) return true;
    let holds = true;
    for (const name of memberNames(instance, run)) {
      run.spend(1 + patterns.length);
      const nodes = nodesFor(name, run);
      for (const node of nodes) holds = evaluateMember(node, name, instance[name], run) && holds;
      if (nodes.length > 0) seen?.names.add(name);
      if (!holds && run.mayStop) return false;
    }
    return holds;
  };
}

export function checkMemberNames(place: Place): Check | undefined {
  const node = readNode(place, "propertyNames");
  if (node === undefined) return undefined;
  return (instance, run) => {
    if (!isObject(instance)) return true;
    return memberNames(instance, run).every((name) => {
      run.enterMember(name);
      const mark = run.problems.length;
      const holds =
        evaluate(node, name, run, undefined) ||
        run.failBefore(mark, "propertyNames", () => "has a name that is not allowed");
      run.leaveMember();
      return holds;
    });
  };
}

export function checkMemberCount(place: Place): Check | undefined {
  const min = readCount(place, "minProperties") ?? 0;
  const max = readCount(place, "maxProperties") ?? Number.POSITIVE_INFINITY;
  if (min === 0 && max === Number.POSITIVE_INFINITY) return undefined;
  return (instance, run) => {
    if (!isObject(instance)) return true;
    const { length } = memberNames(instance, run);
    if (length < min) return run.fail("minProperties", () => `must have at least ${min} members`);
    return length <= max || run.fail("maxProperties", () => `must have at most ${max} members`);
  };
}

export function checkRequired(place: Place): Check | undefined {
  const names = readNames(place, "required");
  if (names === undefined || names.length === 0) return undefined;
  return (instance, run) => !isObject(instance) || hasAll(instance, names, "required", run);
}

export function checkDependentRequired(place: Place): Check | undefined {
  const lists = readNameLists(place, "dependentRequired");
  if (lists === undefined) return undefined;
  return (instance, run) => {
    if (!isObject(instance)) return true;
    run.spend(lists.size);
    let holds = true;
    for (const [name, names] of lists) {
      if (hasMember(instance, name) && !hasAll(instance, names, "dependentRequired", run)) holds = false;
    }
    return holds;
  };
}

function hasAll(
  instance: Readonly<Record<string, unknown>>,
  names: readonly string[],
  keyword: string,
  run: Run,
): boolean {
  run.spend(names.length);
  let holds = true;
  for (const name of names) {
    if (!hasMember(instance, name)) holds = run.fail(keyword, () => `must have the member ${quoted(name)}`);
  }
  return holds;
}

export function checkDependentSchemas(place: Place): Check | undefined {
  const nodes = readNodeMap(place, "dependentSchemas");
  if (nodes === undefined) return undefined;
  return (instance, run, seen) => {
    if (!isObject(instance)) return true;
    run.spend(nodes.size);
    let holds = true;
    for (const [name, node] of nodes) {
      if (hasMember(instance, name) && !evaluate(node, instance, run, seen)) holds = false;
    }
    return holds;
  };
}
