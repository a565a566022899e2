import type { JsonObject } from "@berth/jsonrpc-framing";
import type { RelayedCall } from "@berth/mcp-server";
import type { McpHalf } from "./mcp-halves.js";
import type { CallSubject, PluginCalls } from "./plugin-calls.js";
import { unavailable } from "./plugin-unavailable.js";
import { metaFor } from "./request-meta.js";

/** Where requests of clients go, and where they are written down. */
export interface RelayParts {
  readonly half: McpHalf;
  readonly calls: PluginCalls;
}

/** What a client asks of a plugin. */
export interface RelayedAsk {
  readonly subject: CallSubject;
  /** Members of `params` as the plugin names things, where it names them otherwise than its host. */
  readonly renamed?: JsonObject | undefined;
}

/** Hands one request of a client on, with an entry in the log before it leaves and one before it is answered. */
export async function relayRequest(
  { half, calls }: RelayParts,
  { subject, renamed }: RelayedAsk,
  call: RelayedCall<string>,
): Promise<JsonObject> {
  const { principal, params, meta, clientCapabilities, signal, progress } = call;
  const { method } = subject;
  const token = meta["progressToken"];
  const request = { ...params, ...renamed, _meta: metaFor(meta, clientCapabilities) };
  const onProgress = token === undefined ? undefined : (told: JsonObject): void => tell(told, progress);
  try {
    const about = { plugin: half.plugin, ...subject, principal, door: "mcp" } as const;
    return await calls.run(about, { params: request, signal }, (beforeSend) =>
      half.request({ method, params: request, signal, onProgress, beforeSend }),
    );
  } catch (error) {
    signal.throwIfAborted();
    throw unavailable(half.plugin, error);
  }
}

function tell(told: JsonObject, progress: RelayedCall<string>["progress"]): void {
  const { progress: value, total, message } = told;
  if (typeof value !== "number") return;
  progress(value, typeof total === "number" ? total : undefined, typeof message === "string" ? message : undefined);
}
