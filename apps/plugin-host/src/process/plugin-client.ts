import {
  createPendingCalls,
  isFramingError,
  type JsonObject,
  type PendingCalls,
  readMember,
  readScalar,
  scanEnvelope,
} from "@berth/jsonrpc-framing";
import { RpcError } from "@berth/mcp-server";
import { ProcessPluginError } from "@berth/process-plugins";
import type { Transport } from "@berth/stdio-transport";
import { parseExactly } from "./exact-json.js";

/** How one request is made. */
export interface PluginRequest {
  readonly method: string;
  /** Without a progress token: it is the client's own. */
  readonly params: JsonObject;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
}

/** Asks the MCP half of one running plugin. */
export interface PluginClient extends AsyncDisposable {
  /** Whether its plugin can still be asked. */
  readonly isOpen: boolean;
  /**
   * Resolves with the result.
   * @throws {RpcError} what the plugin answered. Else what ended the wait: the signal's reason, a time-out, or the plugin's end.
   */
  request(request: PluginRequest): Promise<JsonObject>;
  close(): Promise<void>;
}

/** Silence of a plugin, and a whole call: the plugin's host has its own, shorter one. */
const waits = { timeoutMs: 600_000, maxTotalMs: 3_600_000 } as const;

/** Begins to read. The transport is the client's from here on. */
export function createPluginClient(transport: Transport): PluginClient {
  const pending: PendingCalls<JsonObject> = createPendingCalls<JsonObject>(waits);
  const progress = new Map<number, (params: JsonObject) => void>();
  let lastId = 0;
  let isOpen = true;
  const gone = (cause: Error | undefined): void => {
    isOpen = false;
    pending.close(cause ?? new ProcessPluginError("PLUGIN_EXITED", "the plugin has ended"));
  };
  transport.start({
    onFrame: ({ bytes }) => take(bytes, pending, progress),
    onFault: (fault) => gone(fault),
    onClose: gone,
  });
  const ask = async ({ method, params, signal, onProgress }: PluginRequest): Promise<JsonObject> => {
    lastId += 1;
    const id = lastId;
    if (onProgress !== undefined) progress.set(id, onProgress);
    const sent = onProgress === undefined ? params : { ...params, _meta: { ...metaOf(params), progressToken: id } };
    try {
      const answer = pending.register(id, { signal, ...waits });
      answer.catch(() => {}); // awaited below, unless the sending fails first
      await transport.send(Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method, params: sent })), { signal });
      return await answer;
    } catch (error) {
      pending.reject(id, error); // what was not sent has no answer to wait for
      if (signal?.aborted === true && isOpen) cancel(transport, id);
      throw error;
    } finally {
      progress.delete(id);
    }
  };
  const close = (): Promise<void> => transport.close();
  return {
    get isOpen() {
      return isOpen;
    },
    request: ask,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** An answer that comes all the same is passed over by the plugin's host. */
function cancel(transport: Transport, requestId: number): void {
  const params = { requestId };
  const frame = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  transport.send(Buffer.from(frame)).catch(() => {}); // the plugin has ended: there is nothing to cancel
}

function metaOf(params: JsonObject): JsonObject {
  const meta = params["_meta"];
  return isObject(meta) ? meta : {};
}

function take(
  bytes: Uint8Array,
  pending: PendingCalls<JsonObject>,
  progress: ReadonlyMap<number, (params: JsonObject) => void>,
): void {
  try {
    const { kind, id, method, params } = scanEnvelope(bytes);
    if (kind === "notification" && method === "notifications/progress" && params !== undefined) {
      const token = readMember(bytes, params, ["progressToken"]);
      const tell = progress.get(Number(token === undefined ? undefined : readScalar(bytes, token)));
      const told: unknown = tell && JSON.parse(Buffer.from(bytes).toString("utf8"));
      if (isObject(told) && isObject(told["params"])) tell?.(told["params"]);
    }
    if (id === undefined || (kind !== "response" && kind !== "error")) return;
    const message = parseExactly(Buffer.from(bytes).toString("utf8"));
    if (!isObject(message)) return;
    const { result, error } = message;
    if (isObject(result)) pending.settle(id.value, result);
    else pending.reject(id.value, errorOf(error));
  } catch (fault) {
    // The plugin's host has checked each line before: this one cannot be an answer.
    if (!isFramingError(fault)) throw fault;
  }
}

function errorOf(error: unknown): Error {
  if (!isObject(error)) return new Error("the plugin answered with a result that is no object");
  const { code, message, data } = error;
  if (typeof code !== "number" || !Number.isSafeInteger(code))
    return new Error("the plugin answered with a broken error");
  return new RpcError(code, typeof message === "string" ? message : "", data === undefined ? {} : { data });
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
