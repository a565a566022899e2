import type { JsonObject } from "@berth/jsonrpc-framing";
import type { ProcessPluginError } from "../errors.js";
import { pluginFault } from "../pipe/plugin-fault.js";
import type { PluginPipe } from "../pipe/plugin-pipe.js";
import { requestJson } from "../pipe/request-json.js";
import {
  type AnswerReading,
  type Capabilities,
  type Health,
  readCreated,
  readHealth,
  readStarted,
} from "./ave-answers.js";
import { awaitAnswer } from "./await-answer.js";
import type { InstanceTerms } from "./instance-terms.js";

/** What the host asks of a plugin by `ave/`. Each rejects as `awaitAnswer`, and with `PLUGIN_PROTOCOL` for an answer of another shape. */
export interface AveHalf {
  create(dataDir: string, signal: AbortSignal | undefined): Promise<Capabilities>;
  start(signal: AbortSignal | undefined): Promise<void>;
  health(signal: AbortSignal | undefined): Promise<Health>;
  invokeHook(call: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject>;
  stop(): Promise<void>;
  destroy(): Promise<void>;
}

/** @param onBroken Told of an answer that has another shape: the plugin has to be ended. */
export function createAveHalf(
  pipe: PluginPipe,
  terms: InstanceTerms,
  onBroken: (error: ProcessPluginError) => void,
): AveHalf {
  const { name, plugin, timeouts, limits } = terms;
  const ask = (method: string, params: JsonObject, timeoutMs: number, signal?: AbortSignal): Promise<JsonObject> =>
    awaitAnswer({
      plugin: name,
      method,
      signal,
      send: (onEnd) => {
        const frame = frameOf(name, method, params, limits.maxMessageBytes);
        const isOwn = method !== hookMethod;
        const { id } = pipe.call({ method, frame, timeoutMs, isOwn, onEnd });
        return () => void pipe.cancel(id);
      },
    });
  const read = <T>(method: string, reading: AnswerReading<T>): T => {
    if ("value" in reading) return reading.value;
    const error = pluginFault(name, "PLUGIN_PROTOCOL", `answered ${method} wrongly: ${reading.fault}`);
    onBroken(error);
    throw error;
  };
  return {
    create: async (dataDir, signal) => {
      const params = {
        instanceId: terms.instanceId,
        protocol: plugin.manifest.protocol,
        host: { name: terms.host.name, version: terms.host.version },
        plugin: { name: plugin.manifest.name, version: plugin.manifest.version },
        dataDir,
        limits: { maxMessageBytes: limits.maxMessageBytes, callTimeoutMs: timeouts.callMs },
      };
      const answer = await ask("ave/instance/create", params, timeouts.createMs, signal);
      return read("ave/instance/create", readCreated(answer, plugin.manifest));
    },
    start: async (signal) => {
      const answer = await ask("ave/instance/start", {}, timeouts.startMs, signal);
      read("ave/instance/start", readStarted(answer));
    },
    health: async (signal) => {
      const answer = await ask("ave/instance/health", {}, timeouts.healthMs, signal);
      return read("ave/instance/health", readHealth(answer, limits.maxLogBytes));
    },
    invokeHook: (call, signal) => ask(hookMethod, call, timeouts.callMs, signal),
    stop: async () => {
      await ask("ave/instance/stop", { deadlineMs: timeouts.stopMs }, timeouts.stopMs);
    },
    destroy: async () => {
      await ask("ave/instance/destroy", {}, timeouts.exitMs);
    },
  };
}

const hookMethod = "ave/hook/invoke";

/** @throws {ProcessPluginError} `REQUEST_INVALID`: what the plugin could not read it would answer without an id, which would end it. */
function frameOf(plugin: string, method: string, params: JsonObject, maxBytes: number): (id: number) => Uint8Array {
  const json = requestJson(plugin, params);
  const frame = (id: number): Uint8Array =>
    Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${json}}`, "utf8");
  const { length } = frame(Number.MAX_SAFE_INTEGER);
  if (length <= maxBytes) return frame;
  throw pluginFault(plugin, "REQUEST_INVALID", `takes messages of at most ${maxBytes} bytes, not ${length}`);
}
