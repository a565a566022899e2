import {
  createPluginHost,
  type Extensions,
  type HookOutcome,
  type HookRequest,
  type InProcessHook,
  inProcess,
  type JsonObject,
  type PluginCall,
  type PluginEntry,
  type PluginHost,
  type PluginHostOptions,
  type PluginSettings,
} from "../../src/executor.js";

/** A plugin of a test: what it does, and how it stands in the file. */
export interface TestPlugin extends Partial<Omit<PluginEntry, "name" | "kind">> {
  readonly name: string;
  readonly does: InProcessHook;
}

export const settings: PluginSettings = {
  pluginTimeoutMs: 30_000,
  shortCircuitOnDeny: true,
  parallelWithinBand: false,
  failOnPluginError: false,
};

/** An entry with the defaults of a file. */
export function entryOf(part: Partial<PluginEntry> & { readonly name: string }): PluginEntry {
  return {
    kind: "test",
    hooks: ["tool_pre_invoke"],
    mode: "sequential",
    priority: 100,
    onError: "fail",
    capabilities: [],
    conditions: [],
    description: undefined,
    author: undefined,
    version: undefined,
    tags: [],
    config: undefined,
    more: {},
    ...part,
  };
}

/** A host of plugins that are functions. */
export function hostOf(
  plugins: readonly TestPlugin[],
  options: Partial<Omit<PluginHostOptions, "config" | "kinds">> & { readonly settings?: Partial<PluginSettings> } = {},
): PluginHost {
  const { settings: some, ...rest } = options;
  const entries = plugins.map(({ does: _does, ...entry }) => entryOf(entry));
  const hooksOf = (name: string): Record<string, InProcessHook> => {
    const plugin = plugins.find((one) => one.name === name);
    if (plugin === undefined) return {};
    return Object.fromEntries(entryOf(plugin).hooks.map((hook) => [hook, plugin.does]));
  };
  const kind = inProcess("test", Object.fromEntries(plugins.map(({ name }) => [name, { hooks: hooksOf(name) }])));
  return createPluginHost({
    config: { plugins: entries, settings: { ...settings, ...some }, warnings: [] },
    kinds: [kind],
    ...rest,
  });
}

export const payload: JsonObject = { name: "add", args: { a: 1 } };

/** A request for a tool call. */
export function requestOf(part: Partial<HookRequest> = {}): HookRequest {
  return {
    hook: "tool_pre_invoke",
    payload,
    globalContext: { requestId: "r-1", state: {}, metadata: {} },
    ...part,
  };
}

/** Runs one request over plugins, in a host of its own. */
export async function runOver(
  plugins: readonly TestPlugin[],
  request: Partial<HookRequest> = {},
  options: Parameters<typeof hostOf>[1] = {},
): Promise<HookOutcome> {
  await using host = hostOf(plugins, options);
  return await host.run(requestOf(request));
}

/** A plugin that allows and changes nothing. */
export const allow: InProcessHook = () => ({});

/** A plugin that keeps what it is shown, and answers always the same. */
export function keeping(calls: PluginCall[], answer: unknown = {}): InProcessHook {
  return (call) => {
    calls.push(call);
    return answer;
  };
}

/** A plugin that denies. */
export function deny(code: string): InProcessHook {
  return () => ({
    continue_processing: false,
    violation: { reason: `reason of ${code}`, description: "d", code, details: { code } },
  });
}

/** Extensions with something in each slot. */
export const extensions: Extensions = {
  request: { environment: "test" },
  agent: { agent_id: "agent-1" },
  http: {
    requestHeaders: { Authorization: "Bearer secret-of-the-user", "X-Trace": "t1", accept: "text/html" },
    responseHeaders: { "Set-Cookie": "sid=1", "Content-Type": "text/plain" },
    method: "POST",
    path: "/x",
    host: "h",
    scheme: "https",
  },
  security: {
    labels: ["PII"],
    classification: "internal",
    subject: {
      id: "alice",
      type: "user",
      roles: ["admin"],
      teams: ["red"],
      permissions: ["run"],
      claims: { iss: "idp", level: 3 },
    },
    objects: { tool: { managed_by: "host" } },
    data: { tool: { apply_labels: ["PII"] } },
    client: { id: "client-1" },
    callerWorkload: { id: "caller-1" },
    thisWorkload: { id: "this-1" },
    authMethod: "oauth",
  },
  delegation: {
    chain: [
      {
        subjectId: "alice",
        subjectType: "user",
        audience: "agent",
        scopesGranted: ["read"],
        strategy: "passthrough",
        ttl_seconds: 60,
      },
    ],
    depth: 1,
    originSubjectId: "alice",
    actorSubjectId: "alice",
    delegated: true,
    ageSeconds: 1,
  },
  mcp: { tool: { name: "add" } },
  completion: { model: "m" },
  provenance: { source: "s" },
  llm: { model_id: "m" },
  framework: { framework: "f" },
  meta: { tags: ["t"] },
  custom: { note: 1 },
};
