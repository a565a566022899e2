import type { JsonObject as FrameObject, JsonValue as FrameValue } from "@berth/jsonrpc-framing";
import type { PluginHealth, PluginHost, PluginStatus } from "@berth/venv-host/executor";
import type { Asker, AskHook } from "./ask-hook.js";
import { type CarriedNames, createCarriedNames } from "./carried-names.js";
import { readAskedHook } from "./hook-request.js";
import { objectOf, RequestFault } from "./json-members.js";
import { type ToldOutcome, toldOutcome } from "./outcome.js";

/** What clients may ask for, by each door. */
export interface HostMethods {
  list(): { readonly plugins: readonly PluginStatus[] };
  health(signal?: AbortSignal): Promise<ToldHealth>;
  /** @throws {RequestFault} and what the executor throws. */
  invoke(asker: Asker, params: FrameValue | undefined, signal?: AbortSignal): Promise<ToldOutcome>;
  /** One of the above by its name on the wire; undefined when there is none of that name. */
  find(method: string): Method | undefined;
}

/** How all plugins do. */
export interface ToldHealth {
  /** False when a plugin failed. */
  readonly ok: boolean;
  readonly plugins: readonly (PluginHealth & { readonly plugin: string })[];
}

/** One method on the wire. */
export type Method = (asker: Asker, params: FrameValue | undefined, signal: AbortSignal) => Promise<object>;

export function createMethods(host: Pick<PluginHost, "list" | "health">, askHook: AskHook): HostMethods {
  const names: CarriedNames = createCarriedNames();
  const list = (): { readonly plugins: readonly PluginStatus[] } => ({ plugins: host.list() });
  const health = async (signal?: AbortSignal): Promise<ToldHealth> => {
    const plugins = await host.health({ signal });
    return { ok: plugins.every(({ state }) => state !== "failed"), plugins };
  };
  const invoke: HostMethods["invoke"] = async (asker, params, signal) => {
    const { carried: name, ...asked } = readAskedHook(params);
    const carried = name === undefined ? undefined : names.find(asker.principal, name);
    // A hook after a call is of the same request as the one before it.
    const requestId = asked.globalContext.requestId ?? carried?.requestId;
    const outcome = await askHook(asker, {
      ...asked,
      globalContext: { ...asked.globalContext, requestId },
      carried,
      signal,
    });
    return toldOutcome(outcome, names.keep(asker.principal, outcome.carried));
  };
  const methods: Readonly<Record<string, Method>> = {
    "plugins/list": async (_asker, params) => withoutParams(params, list()),
    "plugins/health": async (_asker, params, signal) => withoutParams(params, await health(signal)),
    "hooks/invoke": invoke,
  };
  return { list, health, invoke, find: (method) => (Object.hasOwn(methods, method) ? methods[method] : undefined) };
}

function withoutParams<T>(params: FrameValue | undefined, result: T): T {
  const given: FrameObject = params === undefined ? {} : objectOf(params, "params");
  if (Object.keys(given).length > 0) throw new RequestFault("this method has no parameters");
  return result;
}
