import type { HookInput, Json, PluginCall, PluginDefinition } from "./plugin-definition.js";
import { type Answer, badState, faults, invalidParams, isJson, methodNotFound, paramsFault } from "./wire.js";

/** Where the one instance of this process is (PROTOCOL.md § 4). */
export type PluginState = "spawned" | "created" | "running" | "stopping" | "stopped" | "destroyed";

/** The `ave/` half: the life of the instance, and hooks. */
export interface AveHalf {
  readonly state: PluginState;
  /** Of a message, both ways: what `create` said, at first the default. */
  readonly maxMessageBytes: number;
  answer(method: string, params: unknown, call: PluginCall): Promise<Answer>;
}

/** A message before `create` said another limit, and the most that it may say. */
const defaultMessageBytes = 4 * 2 ** 20;
const largestMessageBytes = 64 * 2 ** 20;

/** The members that `create` needs, the protocol apart: what another protocol needs is not known. */
const createMembers = {
  instanceId: "string",
  host: "object",
  plugin: "object",
  dataDir: "string",
  limits: "object",
} as const;
const hookMembers = { hook_type: "string", payload: "object", context: "object" } as const;

interface Step {
  readonly from: readonly PluginState[];
  readonly run: (params: Json, call: PluginCall) => Answer | Promise<Answer>;
}

export function createAveHalf(definition: PluginDefinition): AveHalf {
  const { name, version, tools, hooks } = definition;
  let state: PluginState = "spawned";
  let maxMessageBytes = defaultMessageBytes;
  const create = (params: Json): Answer => {
    const fault = createFault(params);
    if (fault !== undefined) return fault;
    maxMessageBytes = messageBytesOf(params["limits"]);
    state = "created";
    const named = hooks === undefined ? {} : { hooks: Object.keys(hooks).sort() };
    const capabilities = { mcp: tools !== undefined, health: true, ...named };
    return { result: { protocol: 1, plugin: { name, version }, capabilities } };
  };
  const start = async (_: Json, call: PluginCall): Promise<Answer> => {
    await definition.start?.(call);
    state = "running";
    return { result: { status: "running" } };
  };
  const health = async (): Promise<Answer> => ({ result: { ...((await definition.health?.()) ?? { status: "ok" }) } });
  const stop = async (params: Json): Promise<Answer> => {
    const fault = paramsFault(params, { deadlineMs: "integer" });
    if (fault !== undefined) return fault;
    state = "stopping";
    try {
      await definition.stop?.();
    } finally {
      state = "stopped";
    }
    return { result: {} };
  };
  const destroy = (): Answer => {
    state = "destroyed";
    return { result: {} };
  };
  const steps = new Map<string, Step>([
    ["ave/instance/create", { from: ["spawned"], run: create }],
    ["ave/instance/start", { from: ["created"], run: start }],
    ["ave/instance/health", { from: ["created", "running", "stopped"], run: health }],
    ["ave/instance/stop", { from: ["running"], run: stop }],
    ["ave/instance/destroy", { from: ["stopped"], run: destroy }],
  ]);
  const answer = async (method: string, params: unknown, call: PluginCall): Promise<Answer> => {
    const members = isJson(params) ? params : {};
    if (method === "ave/hook/invoke")
      return state === "running" ? invokeHook(definition, members, call) : { error: faults.notRunning };
    const step = steps.get(method);
    if (step === undefined) return methodNotFound(method);
    return step.from.includes(state) ? step.run(members, call) : badState(state);
  };
  return {
    answer,
    get state() {
      return state;
    },
    get maxMessageBytes() {
      return maxMessageBytes;
    },
  };
}

function createFault(params: Json): Answer | undefined {
  const fault = paramsFault(params, { protocol: "integer" });
  if (fault !== undefined) return fault;
  return params["protocol"] === 1 ? paramsFault(params, createMembers) : { error: faults.protocol };
}

function messageBytesOf(limits: unknown): number {
  const said = isJson(limits) ? limits["maxMessageBytes"] : undefined;
  if (typeof said !== "number" || !(said > 0)) return defaultMessageBytes;
  return Math.min(said, largestMessageBytes);
}

async function invokeHook(definition: PluginDefinition, params: Json, call: PluginCall): Promise<Answer> {
  const fault = paramsFault(params, hookMembers);
  if (fault !== undefined) return fault;
  const { hook_type: name, payload, context, extensions, credential } = params;
  const hooks = definition.hooks ?? {};
  const hook = typeof name === "string" && Object.hasOwn(hooks, name) ? hooks[name] : undefined;
  if (hook === undefined || !isJson(payload) || !isJson(context)) return invalidParams(`Unknown hook: ${name}`);
  const input: HookInput = { payload, context, extensions, credential };
  return { result: (await hook(input, call)) ?? { continue_processing: true } };
}
