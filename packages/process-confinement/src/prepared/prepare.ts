import { statSync } from "node:fs";
import { presentSandbox } from "../end/present.js";
import { givenAtStart } from "../limits/limits-host.js";
import { handOver } from "../plan/start-script.js";
import type { Sandbox } from "../sandbox.js";
import type { ConfinementHost } from "../start/host.js";
import type { Layout } from "../start/lay-out.js";
import { letGo } from "../start/let-go.js";
import { type Raised, raiseSandbox } from "../start/raise-sandbox.js";
import { boundStart, type StartBound } from "../start/start-bound.js";
import type { PreparedStock } from "./prepared-stock.js";
import type { Preparation } from "./waiting-sandboxes.js";

/**
 * All of a layout but the command that is handed over, and what else of the machine a sandbox has from its start. What waits keeps
 * its bubblewrap and what it binds, so that an inode is not another's.
 */
export function basisOf({ tools, terms, limits, plan, binds, machine }: Layout): string {
  const { program: _program, env: _env, cwd: _cwd, ...fixed } = plan;
  const { dev, ino } = statSync(tools.bubblewrap);
  return JSON.stringify([fixed, terms.policy, limits.enforced, binds, tools, dev, ino, givenAtStart(machine)]);
}

/** Begins to make a sandbox that waits for its command. */
export function prepareSandbox(host: ConfinementHost, layout: Layout, signal: AbortSignal): Preparation {
  return { basis: basisOf(layout), raised: raiseBound(host, layout, signal) };
}

async function raiseBound(host: ConfinementHost, layout: Layout, signal: AbortSignal): Promise<Raised> {
  const bound = boundStart(layout.terms.startTimeoutMs, signal);
  try {
    return await raiseSandbox(host, layout, { bound });
  } finally {
    bound.release();
  }
}

/** Hands the command over to one that waits; undefined when none does that could take it. */
export async function tryPrepared(
  stock: PreparedStock,
  layout: Layout,
  bound: StartBound,
): Promise<Sandbox | undefined> {
  const { terms, plan } = layout;
  const word = handOver(plan);
  const taken = word === undefined ? undefined : stock.take(basisOf(layout));
  if (taken === undefined) return undefined;
  // What could not be made is told by the one that is started instead.
  const raised = await bound.wait(taken.catch(() => undefined)).catch((error: unknown) => {
    stock.discard(taken);
    throw error;
  });
  if (raised === undefined) return undefined;
  await letGo(raised, terms, bound, word);
  return presentSandbox(raised, terms);
}
