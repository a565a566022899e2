import { isAsked } from "../payload/conditions.js";
import type { PluginMode } from "../plugin-config.js";
import { type LinkedAbort, linkAbort } from "../until-aborted.js";
import { type Attempt, askPlugin, type Seen } from "./ask-plugin.js";
import type { HookProgress, HookSession } from "./hook-session.js";
import type { PluginSlot } from "./plugin-slot.js";
import { denialOf, settle, skip } from "./settle.js";

/** In this order plugins run; `disabled` ones never. */
export const PHASES: readonly PluginMode[] = ["sequential", "transform", "audit", "concurrent", "fire_and_forget"];

/** Takes calls that nobody waits for. */
export type Background = (session: HookSession, progress: HookProgress, slot: PluginSlot) => void;

/** Runs all phases; a denial ends the foreground, and the background still hears of the request. */
export async function runPhases(
  session: HookSession,
  progress: HookProgress,
  slots: readonly PluginSlot[],
  startBackground: Background,
): Promise<void> {
  const asked = slots.filter((slot) => isDue(session, progress, slot));
  const of = (mode: PluginMode): readonly PluginSlot[] => asked.filter(({ entry }) => entry.mode === mode);
  await runSerial(session, progress, of("sequential"));
  await runSerial(session, progress, of("transform"));
  for (const band of session.settings.parallelWithinBand ? bands(of("audit")) : of("audit").map((slot) => [slot])) {
    await runBeside(session, progress, band);
  }
  await runBeside(session, progress, of("concurrent"));
  for (const slot of of("fire_and_forget")) startBackground(session, progress, slot);
}

/** Conditions are about the request as it came: what one plugin changes does not decide whether another is asked. */
function isDue(session: HookSession, progress: HookProgress, slot: PluginSlot): boolean {
  if (slot.isDisabled) {
    skip(session, progress, slot, "it was switched off after an error");
    return false;
  }
  if (isAsked(slot.entry.conditions, session.form, progress.work.payload, session.context)) return true;
  skip(session, progress, slot, "none of its conditions holds");
  return false;
}

async function runSerial(session: HookSession, progress: HookProgress, slots: readonly PluginSlot[]): Promise<void> {
  for (const slot of slots) {
    if (skipDenied(session, progress, slot)) continue;
    const attempt = await askPlugin(session, slot, seenBy(progress, slot), session.signal);
    settle(session, progress, slot, attempt);
  }
}

/** All are shown the same, and are settled in their order, not in that of their answers: who is quicker decides nothing. */
async function runBeside(session: HookSession, progress: HookProgress, slots: readonly PluginSlot[]): Promise<void> {
  const due = slots.filter((slot) => !skipDenied(session, progress, slot));
  if (due.length === 0) return;
  const linked = linkAbort([session.signal]);
  try {
    const attempts = await Promise.all(due.map((slot) => askBeside(session, slot, seenBy(progress, slot), linked)));
    due.forEach((slot, at) => {
      const attempt = attempts[at];
      if (attempt === undefined) skip(session, progress, slot, "its call was ended, as another plugin denied");
      else settle(session, progress, slot, attempt);
    });
  } finally {
    linked.release();
  }
}

/** Undefined when another's deny came first. */
async function askBeside(
  session: HookSession,
  slot: PluginSlot,
  seen: Seen,
  linked: LinkedAbort,
): Promise<Attempt | undefined> {
  try {
    const attempt = await askPlugin(session, slot, seen, linked.signal);
    const isDeny = denialOf(session, slot, attempt) !== undefined;
    if (isDeny && session.settings.shortCircuitOnDeny) linked.abort(new Error("another plugin denied"));
    return attempt;
  } catch (error) {
    session.signal.throwIfAborted();
    if (linked.signal.aborted) return undefined;
    throw error;
  }
}

function skipDenied(session: HookSession, progress: HookProgress, slot: PluginSlot): boolean {
  const { denial, executions } = progress;
  if (denial === undefined) return false;
  // A plugin that failed with `on_error: fail` denies too, and nobody should look for its reasons.
  const isDeny = executions.some(({ plugin, status }) => plugin === denial.plugin && status === "denied");
  skip(session, progress, slot, `plugin ${denial.plugin} ${isDeny ? "denied" : "failed"} before it`);
  return true;
}

/** What a plugin is shown at this moment. */
export function seenBy(progress: HookProgress, { entry }: PluginSlot): Seen {
  const { work, extensions, shared, notes } = progress;
  return { work, extensions, shared, state: notes.get(entry.name) ?? {} };
}

/** Neighbours of one priority. */
function bands(slots: readonly PluginSlot[]): readonly PluginSlot[][] {
  const found: PluginSlot[][] = [];
  for (const slot of slots) {
    const last = found.at(-1);
    if (last?.[0]?.entry.priority === slot.entry.priority) last.push(slot);
    else found.push([slot]);
  }
  return found;
}
