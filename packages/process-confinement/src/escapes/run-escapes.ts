import { listInherited } from "../start/inherited-descriptors.js";
import type { AttemptPlan } from "./attempt-list.js";
import { type EscapeTerms, readEscapeOptions } from "./escape-terms.js";
import type { EscapeOptions, EscapeReport, EscapeResult } from "./escapes.js";
import { type HostControls, judge } from "./judge.js";
import type { ListenerName } from "./listeners.js";
import { runOnce, type Start } from "./run-once.js";
import { openStage, type Stage } from "./stage.js";
import { startLaunch, unwrapped, withCapabilities } from "./start-command.js";

/**
 * Tries to escape from a wrap, one attempt after the other, each with its controls. What an attempt left is ended and removed.
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID`, `INTERPRETER_NOT_FOUND`, `PLATFORM_UNSUPPORTED`. Also the signal's reason.
 */
export async function runEscapes(options: EscapeOptions): Promise<EscapeReport> {
  const terms = readEscapeOptions(options);
  terms.signal?.throwIfAborted();
  const stage = await openStage(terms);
  const results: EscapeResult[] = [];
  try {
    for (const plan of terms.plans) {
      const result = await tryAttempt(plan, stage, terms);
      results.push(result);
      terms.onResult(result);
    }
  } finally {
    await stage[Symbol.asyncDispose]();
  }
  const count = (outcome: EscapeResult["outcome"]): number => results.filter((each) => each.outcome === outcome).length;
  return { results, refused: count("refused"), escaped: count("escaped"), inconclusive: count("inconclusive") };
}

async function tryAttempt(plan: AttemptPlan, stage: Stage, terms: EscapeTerms): Promise<EscapeResult> {
  let offered: boolean | undefined;
  const inWrap: Start = async (command, signal) => {
    const started = await terms.wrap(command, signal);
    const isLaunch = "file" in started;
    if (plan.effect === "descriptor") offered = isLaunch || listInherited().length > 0;
    return isLaunch ? startLaunch(started, command, descriptorFor(plan, stage)) : started;
  };
  const inControl: Start = (command) => {
    const launch = plan.control === "unwrapped" ? unwrapped(command) : withCapabilities(command);
    return startLaunch(launch, command, descriptorFor(plan, stage));
  };
  const before = await hostControls(plan, stage);
  const confined = await runOnce(plan, "confined", inWrap, stage, terms);
  const after = await hostControls(plan, stage);
  const control = await runOnce(plan, "control", inControl, stage, terms);
  const host = { reads: both(before.reads, after.reads), reaches: both(before.reaches, after.reaches), offered };
  return judge(plan, { confined, control, host, canarySha256: stage.canarySha256 });
}

function descriptorFor(plan: AttemptPlan, stage: Stage): number | undefined {
  return plan.effect === "descriptor" ? stage.secretDescriptor : undefined;
}

async function hostControls(plan: AttemptPlan, stage: Stage): Promise<Omit<HostControls, "offered">> {
  const listener = listenerOf(plan);
  return {
    reads: plan.reads === undefined ? undefined : stage.hostReads(),
    reaches: listener === undefined ? undefined : await stage.listeners.hostReaches(listener),
  };
}

function listenerOf({ effect }: AttemptPlan): ListenerName | undefined {
  return effect === "tcp" || effect === "udp" || effect === "abstract" || effect === "path" ? effect : undefined;
}

function both(one: boolean | undefined, other: boolean | undefined): boolean | undefined {
  return one === undefined || other === undefined ? undefined : one && other;
}
