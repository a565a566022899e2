import { canonicalDigest } from "../../canonical.js";
import { mergeMembers } from "../bounded-json.js";
import { overlayHeaders } from "../extensions/header-map.js";
import type { Violation } from "../plugin-call.js";
import type { HookDecision, HookExecution } from "../plugin-host.js";
import type { Allowed, Attempt, Failed } from "./ask-plugin.js";
import { type HookProgress, type HookSession, POWERS } from "./hook-session.js";
import type { PluginSlot } from "./plugin-slot.js";
import { madeUp, type Permission } from "./take-reply.js";

/** Whether an attempt ends the hook. */
export function denialOf(session: HookSession, slot: PluginSlot, attempt: Attempt): Violation | undefined {
  const { mode, name, onError } = slot.entry;
  const { mayDeny } = POWERS[mode];
  if (attempt.outcome === "denied") return mayDeny ? attempt.denial.violation : undefined;
  if (attempt.outcome === "allowed" || onError !== "fail") return undefined;
  const isForeground = mode !== "fire_and_forget";
  return mayDeny || (session.settings.failOnPluginError && isForeground) ? violationOf(name, attempt) : undefined;
}

/** Applies what came of one plugin: changes, notes, the denial, switching off; and records it. */
export function settle(session: HookSession, progress: HookProgress, slot: PluginSlot, attempt: Attempt): void {
  const violation = denialOf(session, slot, attempt);
  if (violation !== undefined) progress.denial ??= Object.freeze({ ...violation, plugin: slot.entry.name });
  const isChanged =
    attempt.outcome === "allowed" && (attempt.work !== progress.work || attempt.extensions !== progress.extensions);
  const execution = executionOf(session, slot, attempt, isChanged);
  const change = changeOf(session, progress, attempt);
  if (attempt.outcome === "allowed") apply(progress, slot, attempt);
  else if (attempt.outcome !== "denied") switchOff(slot);
  note(session, progress, slot, execution, violation?.code ?? codeOf(attempt), change);
}

/** Before it is applied. */
function changeOf({ decisions }: HookSession, { work }: HookProgress, attempt: Attempt): HookDecision["change"] {
  if (!decisions.isHeard || attempt.outcome !== "allowed" || attempt.work.payload === work.payload) return undefined;
  return { before: canonicalDigest(work.payload), after: canonicalDigest(attempt.work.payload) };
}

/** A plugin that failed under `on_error: disable`. */
export function switchOff(slot: PluginSlot): void {
  if (slot.entry.onError === "disable") slot.disable();
}

/** A plugin that was not asked. */
export function skip(session: HookSession, progress: HookProgress, slot: PluginSlot, reason: string): void {
  progress.executions.push(makeExecution(session, slot, "skipped", 0, reason));
}

/** Adds an execution, and tells of it. */
export function note(
  session: HookSession,
  progress: HookProgress,
  slot: PluginSlot,
  execution: HookExecution,
  code: string | undefined,
  change?: HookDecision["change"],
): void {
  progress.executions.push(execution);
  tell(session, slot, execution, code, change);
}

/** Tells the log of a decision. */
export function tell(
  session: HookSession,
  slot: PluginSlot,
  execution: HookExecution,
  code: string | undefined,
  change?: HookDecision["change"],
): void {
  const { requestId } = session.context;
  session.decisions.note(Object.freeze({ ...execution, requestId, code, evidence: slot.evidence, change }));
}

/** What one plugin did. */
export function makeExecution(
  { hook }: HookSession,
  { entry }: PluginSlot,
  status: HookExecution["status"],
  durationMs: number,
  reason: string | undefined,
): HookExecution {
  return Object.freeze({ plugin: entry.name, hook, mode: entry.mode, status, durationMs, reason });
}

/** What one plugin did, as the record has it. */
export function executionOf(
  session: HookSession,
  slot: PluginSlot,
  attempt: Attempt,
  isChanged: boolean,
): HookExecution {
  const { durationMs } = attempt;
  if (attempt.outcome === "allowed") {
    return makeExecution(session, slot, isChanged ? "modified" : "allowed", durationMs, undefined);
  }
  if (attempt.outcome !== "denied") return makeExecution(session, slot, attempt.outcome, durationMs, attempt.reason);
  const { mode } = slot.entry;
  const { reason } = attempt.denial.violation;
  const said = POWERS[mode].mayDeny ? reason : `without effect, as mode ${mode} may not deny: ${reason}`;
  return makeExecution(session, slot, "denied", durationMs, said);
}

function apply(progress: HookProgress, { entry }: PluginSlot, attempt: Allowed): void {
  const { permission } = attempt;
  const { mayModify, mayTell } = POWERS[entry.mode];
  if (mayModify) {
    progress.work = attempt.work;
    progress.extensions = attempt.extensions;
  }
  if (mayTell) applyTold(progress, permission);
  progress.notes.set(entry.name, mergeMembers(progress.notes.get(entry.name) ?? {}, permission.state));
}

function applyTold(progress: HookProgress, permission: Permission): void {
  progress.shared = mergeMembers(progress.shared, permission.globalState);
  progress.metadata = mergeMembers(progress.metadata, permission.metadata);
  progress.httpHeaders = overlayHeaders(progress.httpHeaders, permission.httpHeaders);
  progress.retryDelayMs = Math.max(progress.retryDelayMs, permission.retryDelayMs);
}

function violationOf(plugin: string, { outcome, reason, code }: Failed): Violation {
  const made = madeUp(plugin, outcome === "timed_out" ? "plugin_timeout" : "plugin_error", reason);
  return code === undefined ? made : { ...made, details: Object.freeze({ error: code }) };
}

/** The code of a deny or an error. */
export function codeOf(attempt: Attempt): string | undefined {
  if (attempt.outcome === "allowed") return undefined;
  return attempt.outcome === "denied" ? attempt.denial.violation.code : attempt.code;
}
