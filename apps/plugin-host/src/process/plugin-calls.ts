import { createHash } from "node:crypto";
import type { Receipt, SessionEntry } from "@berth/audit-chain";
import type { JsonObject } from "@berth/jsonrpc-framing";
import { isRpcError } from "@berth/mcp-server";
import { isProcessPluginError } from "@berth/process-plugins";
import { callIntentEntry, callOutcomeEntry, callRefusedEntry } from "../audit/audit-entries.js";
import type { CallObserver } from "../http/metrics.js";
import { hostReason, isOwnError } from "./plugin-words.js";

/** What is asked: of tools and prompts the plugin's own names, of resources its own address or template. Not an address that a client made. */
export interface CallSubject {
  readonly method: string;
  readonly tool?: string | undefined;
  readonly prompt?: string | undefined;
  readonly resource?: string | undefined;
  readonly template?: string | undefined;
}

/** Whose request, and of which plugin. */
export interface PluginCall extends CallSubject {
  readonly plugin: string;
  readonly principal: string;
  readonly door: "mcp";
}

/** What came of a call. `cancelled`: by its client; `error`: the plugin answered with one; `failed`: there was no answer; `refused`: it never left. */
export type CallStatus = "result" | "tool-error" | "input-required" | "error" | "cancelled" | "failed" | "refused";

/** Asks plugins with an entry before each request leaves, and one after. */
export interface PluginCalls {
  /**
   * @param make Makes the call once what it is handed has resolved.
   * @throws what `make` throws; `ChainError` `AUDIT_UNAVAILABLE`: nothing has left, or what came of it could not be written down.
   */
  run(call: PluginCall, request: CallRequest, make: MakeCall): Promise<JsonObject>;
}

/** What is asked, and what ends the wait. */
export interface CallRequest {
  readonly params: JsonObject;
  readonly signal: AbortSignal;
}

export type MakeCall = (beforeSend: (instance: string) => Promise<void>) => Promise<JsonObject>;

export interface PluginCallsParts {
  readonly audit: { append(entry: SessionEntry): Promise<Receipt> };
  readonly observer: CallObserver;
}

export function createPluginCalls({ audit, observer }: PluginCallsParts): PluginCalls {
  return {
    async run(call, { params, signal }, make) {
      const begun = performance.now();
      let left: { readonly intent: number; readonly instance: string } | undefined;
      const note = async (
        status: CallStatus,
        code: string | number | undefined,
        result?: JsonObject,
      ): Promise<void> => {
        observer.called(call.plugin, status, call.method);
        const came = { ...call, status, code, durationMs: Math.round(performance.now() - begun) };
        if (left === undefined) await audit.append(callRefusedEntry(came));
        else await audit.append(callOutcomeEntry({ ...came, ...left }, result && factsOf(result)));
      };
      let result: JsonObject;
      try {
        result = await make(async (instance) => {
          const { sequence } = await audit.append(callIntentEntry({ ...call, instance }, factsOf(params)));
          left = { intent: sequence, instance };
        });
      } catch (error) {
        await note(statusOf(error, left !== undefined, signal), codeOf(error, signal));
        throw error;
      }
      await note(statusOfResult(result), undefined, result);
      return result;
    },
  };
}

/** Size and SHA-256 of the JSON text of a value: never the value. */
function factsOf(value: JsonObject): { readonly bytes: number; readonly digest: string } {
  const text = Buffer.from(JSON.stringify(value), "utf8");
  return { bytes: text.length, digest: `sha256:${createHash("sha256").update(text).digest("hex")}` };
}

function statusOfResult({ isError, resultType }: JsonObject): CallStatus {
  if (isError === true) return "tool-error";
  return resultType === "input_required" ? "input-required" : "result";
}

function statusOf(error: unknown, hasLeft: boolean, signal: AbortSignal): CallStatus {
  if (!hasLeft) return "refused";
  if (signal.aborted) return "cancelled";
  return isOwnError(error) ? "error" : "failed";
}

function codeOf(error: unknown, signal: AbortSignal): string | number | undefined {
  if (signal.aborted) return undefined;
  if (isRpcError(error)) return hostReason(error.data) ?? error.code;
  if (isProcessPluginError(error)) return error.code;
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
