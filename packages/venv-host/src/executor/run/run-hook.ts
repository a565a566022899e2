import { PluginHostError } from "../errors.js";
import type { WriteAuthorities } from "../extensions/write-authority.js";
import type { ExecutorTerms } from "../limits.js";
import { hookForm } from "../payload/hook-forms.js";
import { secretIn, takePayload } from "../payload/payloads.js";
import { takeContext } from "../payload/request-context.js";
import type { PluginSettings } from "../plugin-config.js";
import type { HookOutcome, HookRequest, PluginHostOptions, Scheduler } from "../plugin-host.js";
import { createRedactor, type Redactor } from "../redact.js";
import { linkAbort } from "../until-aborted.js";
import type { BackgroundCalls } from "./background-calls.js";
import type { CarriedStates } from "./carried-state.js";
import { createDecisionLog } from "./decisions.js";
import type { HookProgress, HookSession } from "./hook-session.js";
import { runPhases } from "./phases.js";
import type { PluginSlot } from "./plugin-slot.js";
import { tokensOf } from "./select-credential.js";

const MAX_HOOK_CHARS = 200;

/** What the hooks of one host share. */
export interface HookRunner {
  /** In the order in which they run. */
  readonly slots: readonly PluginSlot[];
  readonly settings: PluginSettings;
  readonly terms: ExecutorTerms;
  readonly scheduler: Scheduler;
  readonly authorities: WriteAuthorities;
  readonly carried: CarriedStates;
  readonly background: BackgroundCalls;
  readonly record: PluginHostOptions["record"];
  readonly ending: AbortSignal;
}

/** Runs one hook over all plugins that have it. */
export async function runHook(runner: HookRunner, request: HookRequest): Promise<HookOutcome> {
  const linked = linkAbort([request.signal, runner.ending]);
  try {
    linked.signal.throwIfAborted();
    return await runUntil(runner, request, linked.signal);
  } finally {
    linked.release();
  }
}

async function runUntil(runner: HookRunner, request: HookRequest, signal: AbortSignal): Promise<HookOutcome> {
  const { session, progress } = begin(runner, request, signal);
  const shown = progress.work.payload;
  const slots = runner.slots.filter(({ entry }) => entry.hooks.includes(request.hook));
  await runPhases(session, progress, slots, runner.background.start);
  await session.decisions.settled(signal, {
    scheduler: runner.scheduler,
    timeoutMs: runner.terms.recordTimeoutMs,
  });
  const isUntouched = progress.work.payload === shown && session.form.secret === undefined;
  return Object.freeze({
    allowed: progress.denial === undefined,
    payload: isUntouched ? request.payload : progress.work.payload,
    extensions: progress.extensions,
    result: progress.work.result,
    violation: progress.denial,
    httpHeaders: progress.httpHeaders,
    metadata: progress.metadata,
    retryDelayMs: progress.retryDelayMs,
    carried: runner.carried.keep(session.context.requestId, { byPlugin: progress.notes, shared: progress.shared }),
    executions: Object.freeze([...progress.executions]),
  });
}

function begin(
  runner: HookRunner,
  request: HookRequest,
  signal: AbortSignal,
): { session: HookSession; progress: HookProgress } {
  const { settings, terms, scheduler, authorities, record } = runner;
  const { hook, credentials, extensions } = request;
  if (typeof hook !== "string" || hook === "" || hook.length > MAX_HOOK_CHARS) {
    throw new PluginHostError("OPTION_INVALID", `hook is no name of 1 to ${MAX_HOOK_CHARS} characters`);
  }
  const form = hookForm(hook);
  const redactor = redactorOf(request);
  const payload = takePayload(hook, form, request.payload, terms, redactor);
  const context = takeContext(request.globalContext, terms, redactor);
  const notes = runner.carried.read(request.carried, context.requestId);
  const decisions = createDecisionLog(record);
  return {
    session: {
      hook,
      form,
      context,
      credentials,
      redactor,
      settings,
      terms,
      scheduler,
      authorities,
      decisions,
      signal,
    },
    progress: {
      work: { payload, result: undefined },
      extensions,
      notes: new Map(notes.byPlugin),
      shared: notes.shared,
      metadata: Object.freeze({}),
      httpHeaders: Object.freeze({}),
      retryDelayMs: 0,
      executions: [],
      denial: undefined,
    },
  };
}

/** Every token of the request is hidden from every plugin; the one that may have one gets it beside the payload. */
function redactorOf({ hook, payload, credentials }: HookRequest): Redactor {
  const own = secretIn(hookForm(hook), payload);
  return createRedactor([...tokensOf(credentials), ...(own === undefined ? [] : [own])]);
}
