import type { JsonObject as FrameObject, JsonValue as FrameValue } from "@berth/jsonrpc-framing";
import type { PluginStanding, PluginSupervisor } from "@berth/process-plugins";
import type { PluginHealth, PluginHost, PluginStatus } from "@berth/venv-host/executor";
import type { Asker, AskHook } from "./ask-hook.js";
import { type CarriedNames, createCarriedNames } from "./carried-names.js";
import { readAskedHook } from "./hook-request.js";
import { objectOf, RequestFault } from "./json-members.js";
import { type ToldOutcome, toldOutcome } from "./outcome.js";

/** What clients may ask for, by each door. */
export interface HostMethods {
  list(): { readonly plugins: readonly (PluginStatus & OfProcess)[] };
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
  readonly plugins: readonly (PluginHealth & OfProcess & { readonly plugin: string })[];
}

/** What is told of a process plugin beside that. */
export interface OfProcess {
  readonly process?: Omit<PluginStanding, "name" | "message"> | undefined;
}

/** One method on the wire. */
export type Method = (asker: Asker, params: FrameValue | undefined, signal: AbortSignal) => Promise<object>;

/** @param processes Says how process plugins stand. */
export function createMethods(
  host: Pick<PluginHost, "list" | "health">,
  processes: Pick<PluginSupervisor, "list">,
  askHook: AskHook,
): HostMethods {
  const standings = (): ReadonlyMap<string, PluginStanding> =>
    new Map(processes.list().map((standing) => [standing.name, standing]));
  const names: CarriedNames = createCarriedNames();
  const list: HostMethods["list"] = () => {
    const all = standings();
    return { plugins: host.list().map((plugin) => ({ ...plugin, ...ofProcess(all.get(plugin.name)) })) };
  };
  const health = async (signal?: AbortSignal): Promise<ToldHealth> => {
    const found = await host.health({ signal });
    const all = standings();
    const plugins = found.map((each) => standingHealth(each, all.get(each.plugin)));
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

function ofProcess(standing: PluginStanding | undefined): OfProcess {
  if (standing === undefined) return {};
  const { name: _name, message: _message, ...told } = standing;
  return { process: told };
}

/** One that its supervisor holds back answers nobody, whatever its hooks were told last. */
function standingHealth<T extends PluginHealth>(health: T, standing: PluginStanding | undefined): T & OfProcess {
  const told = ofProcess(standing);
  if (standing?.state !== "quarantined" && standing?.state !== "rejected") return { ...health, ...told };
  return { ...health, ...told, state: "failed", message: standing.message ?? standing.state };
}
