import type { SessionEntry } from "@berth/audit-chain";
import type { PluginEvent } from "@berth/process-plugins";
import { environmentFacts, type GotEnvironment } from "@berth/venv-host";
import type { HookDecision } from "@berth/venv-host/executor";

// Names of an entry's members are the log's format: see the README. No payload, context, header or token is in any of them.

/** Which plugin decided what, and the environment that answered. */
export function decisionEntry(decision: HookDecision): SessionEntry {
  const { plugin, hook, mode, status, durationMs, requestId, code, evidence } = decision;
  return {
    ...evidence,
    type: "plugin.decision",
    plugin,
    hook,
    mode,
    status,
    code,
    request: requestId,
    durationMs: Math.round(durationMs),
  };
}

/** What all plugins together said, and to whom. */
export function hookEntry(hook: {
  readonly hook: string;
  readonly request: string | undefined;
  readonly principal: string;
  readonly door: string;
  readonly outcome: "allowed" | "denied" | "failed";
  readonly plugin?: string | undefined;
  readonly code?: string | undefined;
}): SessionEntry {
  return { type: "plugin.hook", ...hook };
}

/** What a plugin's environment is made of, as it was measured; of one that somebody else installed nothing was. */
export function environmentEntry(got: GotEnvironment): SessionEntry {
  return { ...environmentFacts(got), type: "plugin.environment" };
}

/** What becomes of a process plugin: its measured digest, how it is confined, its start and its end. */
export function processEntry(event: PluginEvent): SessionEntry {
  return { ...event };
}

/** Size and digest of a JSON text. */
interface TextFacts {
  readonly bytes: number;
  readonly digest: string;
}

interface CallFacts {
  readonly plugin: string;
  readonly method: string;
  readonly tool?: string | undefined;
  readonly prompt?: string | undefined;
  readonly resource?: string | undefined;
  readonly template?: string | undefined;
  readonly principal: string;
  readonly door: string;
}

interface CallEnd extends CallFacts {
  readonly status: string;
  readonly code: string | number | undefined;
  readonly durationMs: number;
}

/** A request for something that a process plugin has is about to leave. */
export function callIntentEntry(call: CallFacts & { readonly instance: string }, params: TextFacts): SessionEntry {
  return { type: "call.intent", ...call, paramsBytes: params.bytes, paramsDigest: params.digest };
}

/** What came of one that left. @param result Of its result, where it had one. */
export function callOutcomeEntry(
  call: CallEnd & { readonly instance: string; readonly intent: number },
  result: TextFacts | undefined,
): SessionEntry {
  return { type: "call.outcome", ...call, resultBytes: result?.bytes, resultDigest: result?.digest };
}

/** One that never left. */
export function callRefusedEntry(call: CallEnd): SessionEntry {
  return { type: "call.refused", ...call };
}
