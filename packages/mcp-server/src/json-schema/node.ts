import type { Resource } from "./resources.js";
import type { Run } from "./run.js";
import { createSeen, mergeSeen, type Seen } from "./seen.js";

/** One keyword, or some that belong together, ready to be applied. Tells its problems to the run. */
export type Check = (instance: unknown, run: Run, seen: Seen | undefined) => boolean;

/** A compiled schema: a closure for each keyword, no code made. */
export interface Node {
  readonly resource: Resource;
  checks: readonly Check[];
  /** `unevaluated…`: applied last, to what the others have left. */
  lateChecks: readonly Check[];
}

/** Applies a schema. `into` receives what it evaluated, when it holds and someone can ask. */
export function evaluate(node: Node, instance: unknown, run: Run, into: Seen | undefined): boolean {
  run.enterSchema();
  run.spend(1 + node.checks.length);
  const entersResource = run.scopes.at(-1) !== node.resource;
  if (entersResource) run.scopes.push(node.resource);
  const seen = into === undefined && node.lateChecks.length === 0 ? undefined : createSeen();
  // The late ones only after the others hold: a failed keyword leaves members unevaluated, which would be told twice.
  const holds = applyAll(node.checks, instance, run, seen) && applyAll(node.lateChecks, instance, run, seen);
  if (holds && seen !== undefined && into !== undefined) mergeSeen(seen, into, run);
  if (entersResource) run.scopes.pop();
  run.leaveSchema();
  return holds;
}

function applyAll(checks: readonly Check[], instance: unknown, run: Run, seen: Seen | undefined): boolean {
  let holds = true;
  for (const check of checks) {
    if (check(instance, run, seen)) continue;
    holds = false;
    if (run.mayStop) break;
  }
  return holds;
}

/** Applies a schema to a member or an item of the instance. */
export function evaluateMember(node: Node, token: string | number, value: unknown, run: Run): boolean {
  run.enterMember(token);
  const holds = evaluate(node, value, run, undefined);
  run.leaveMember();
  return holds;
}
