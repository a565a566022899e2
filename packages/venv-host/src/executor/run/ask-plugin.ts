import { randomUUID } from "node:crypto";
import { mergeMembers } from "../bounded-json.js";
import type { Credential } from "../credentials.js";
import { errorCode, errorText } from "../error-text.js";
import { PluginHostError } from "../errors.js";
import { mergeExtensions } from "../extensions/extensions-merge.js";
import { viewExtensions } from "../extensions/extensions-view.js";
import { readReturnedExtensions } from "../extensions/returned-extensions.js";
import type { Extensions } from "../extensions.js";
import type { JsonObject } from "../json.js";
import { applyModified, type Work } from "../payload/payloads.js";
import type { PluginCall, PluginReply } from "../plugin-call.js";
import type { RunningPlugin } from "../plugin-kind.js";
import { inTime } from "../until-aborted.js";
import { type HookProgress, type HookSession, POWERS } from "./hook-session.js";
import type { PluginSlot } from "./plugin-slot.js";
import { selectCredential } from "./select-credential.js";
import { type Denial, type Permission, takeReply } from "./take-reply.js";

/** What came of asking one plugin. */
export type Attempt = { readonly durationMs: number } & (Denied | Allowed | Failed);

/** It denied. */
export interface Denied {
  readonly outcome: "denied";
  readonly denial: Denial;
}

/** It allowed; `work` and `extensions` are as they would be with its changes. */
export interface Allowed {
  readonly outcome: "allowed";
  readonly permission: Permission;
  readonly work: Work;
  readonly extensions: Extensions | undefined;
}

/** It could not be asked, or its answer not be read. */
export interface Failed {
  readonly outcome: "failed" | "timed_out";
  readonly code: string | undefined;
  readonly reason: string;
}

/** What the plugin is shown: the progress as it stood when its phase, or its turn, began. */
export type Seen = Readonly<Pick<HookProgress, "work" | "extensions" | "shared">> & {
  readonly state: JsonObject;
};

/** Asks one plugin. Rejects only with the signal's reason: whatever else goes wrong is the plugin's failure. */
export async function askPlugin(
  session: HookSession,
  slot: PluginSlot,
  seen: Seen,
  signal: AbortSignal,
): Promise<Attempt> {
  const startedAt = session.scheduler.now();
  const since = (): number => session.scheduler.now() - startedAt;
  try {
    // Before the plugin is made ready: without its token it is not to run at all.
    const credential = selectCredential(session.hook, slot.capabilities, seen.work.payload, session.credentials);
    if (credential !== undefined)
      slot.hide("inbound" in credential ? credential.inbound.token : credential.delegated.token);
    const plugin = await slot.open(signal);
    const reply = await callInTime(session, plugin, callFor(session, slot, seen, credential), signal);
    return { durationMs: since(), ...readAnswer(session, slot, seen, reply) };
  } catch (error) {
    signal.throwIfAborted();
    return { durationMs: since(), ...failure(session, error) };
  }
}

function callFor(
  session: HookSession,
  { capabilities }: PluginSlot,
  seen: Seen,
  credential: Credential | undefined,
): PluginCall {
  const { hook, context, redactor, terms } = session;
  const refuse = (fault: string): PluginHostError => new PluginHostError("PAYLOAD_INVALID", `extensions: ${fault}`);
  const text = redactor.isIdle ? undefined : redactor.text;
  return Object.freeze({
    id: randomUUID(),
    hook,
    payload: seen.work.payload,
    context: Object.freeze({
      state: seen.state,
      globalContext: Object.freeze({ ...context, state: mergeMembers(context.state, seen.shared) }),
      metadata: Object.freeze({}),
    }),
    extensions: viewExtensions(seen.extensions, capabilities, { bounds: terms, refuse, text }),
    credential,
  });
}

/** The time is the host's to keep: a plugin that does not hear its signal is left behind. */
function callInTime(
  { settings, scheduler }: HookSession,
  plugin: RunningPlugin,
  call: PluginCall,
  signal: AbortSignal,
): Promise<PluginReply> {
  const { pluginTimeoutMs: timeoutMs } = settings;
  const late = (): Error => new PluginHostError("PLUGIN_TIMEOUT", `no answer within ${timeoutMs} ms`);
  return inTime((ending) => plugin.call(call, { signal: ending }), { scheduler, timeoutMs, late, followed: [signal] });
}

function readAnswer(session: HookSession, slot: PluginSlot, seen: Seen, reply: PluginReply): Denied | Allowed {
  const { hook, form, terms, redactor } = session;
  const verdict = takeReply(reply, { hook, plugin: slot.entry.name, bounds: terms, redactor });
  if (verdict.denies) return { outcome: "denied", denial: verdict };
  const { modifiedPayload, modifiedExtensions } = verdict;
  const mayModify = POWERS[slot.entry.mode].mayModify;
  return {
    outcome: "allowed",
    permission: verdict,
    work:
      mayModify && modifiedPayload !== undefined ? applyModified(hook, form, seen.work, modifiedPayload) : seen.work,
    extensions:
      mayModify && modifiedExtensions !== undefined
        ? mergeReturned(session, slot, seen.extensions, modifiedExtensions)
        : seen.extensions,
  };
}

function mergeReturned(
  { hook, authorities, redactor }: HookSession,
  { authority, capabilities }: PluginSlot,
  current: Extensions | undefined,
  returned: JsonObject,
): Extensions | undefined {
  const slots = readReturnedExtensions(
    returned,
    (fault) => new PluginHostError("PROTOCOL_ERROR", `modified_extensions of ${hook}: ${fault}`),
  );
  return mergeExtensions(current, slots, {
    mayWrite: (part) => authorities.mayWrite(authority, capabilities, part),
    shownText: redactor.text,
  });
}

/** The error itself is kept by nobody: its stack and members may hold what its plugin was given. */
function failure({ redactor }: HookSession, error: unknown): Failed {
  const isTimeout = error instanceof PluginHostError && error.code === "PLUGIN_TIMEOUT";
  const code = errorCode(error);
  return {
    outcome: isTimeout || code === "WORKER_TIMEOUT" ? "timed_out" : "failed",
    code: code === undefined ? undefined : redactor.text(code),
    reason: errorText(error, redactor.text),
  };
}
