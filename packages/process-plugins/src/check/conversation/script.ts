import type { JsonObject } from "@berth/jsonrpc-framing";
import { hooksFault } from "../../instance/hook-names.js";
import type { PluginManifest } from "../../manifest/manifest.js";
import { mcpRevision, versionKey } from "../../pipe/gate.js";
import type { CheckCall } from "../files/check-file.js";
import type { Conversation } from "./conversation.js";
import {
  aResult,
  asCall,
  asDiscovery,
  asGated,
  asHealth,
  asNotRunning,
  asToolResult,
  asTools,
  asUnknownAve,
  asUnknownMethod,
  asUnknownTool,
  type Expectation,
} from "./expectations.js";
import { checkHost, hookParams, toldLimits, toldStopMs, withMeta } from "./host-words.js";
import { shown } from "./judge-results.js";
import { type Answer, isJsonObject } from "./turn.js";

/** What a script is run with. */
export interface ScriptSetting {
  readonly conversation: Conversation;
  readonly manifest: PluginManifest;
  readonly instanceId: string;
  /** As the plugin sees it. */
  readonly dataFolder: string;
  readonly timeouts: {
    readonly createMs: number;
    readonly startMs: number;
    readonly healthMs: number;
    readonly callMs: number;
    readonly stopMs: number;
  };
}

/** A plugin that was created and started. */
export interface Started {
  readonly mcp: boolean;
  readonly health: boolean;
  /** It offers MCP, and its manifest says that it has none. */
  readonly unserved: boolean;
}

/** Where the attempts of a script aim. */
export interface ScriptTargets {
  readonly secretsDir: string;
  readonly otherDataDir: string;
  readonly port: number;
}

const text = "hello, wörld ✓";

/**
 * `create` and `start`, and what is asked between them.
 * @returns what it can do, or what is wrong, one sentence. @throws as `Conversation.ask`.
 */
export async function beginScript(
  setting: ScriptSetting,
  betweenSteps: () => Promise<void> = async () => {},
): Promise<Started | string> {
  const { conversation, manifest, timeouts } = setting;
  const create = await conversation.ask("ave/instance/create", createParams(setting), timeouts.createMs);
  const created = readCreated(create, manifest);
  if (typeof created === "string") return created;
  await betweenSteps();
  const start = await conversation.ask("ave/instance/start", {}, timeouts.startMs);
  if (start.error !== undefined) return `it answered start with the error ${start.error.code}: ${start.error.message}`;
  return start.result?.["status"] === "running" ? created : 'its answer to start has no status "running"';
}

/** What a plugin is created with. */
export function createParams(setting: ScriptSetting, protocol: number = setting.manifest.protocol): JsonObject {
  const { name, version } = setting.manifest;
  return {
    instanceId: setting.instanceId,
    protocol,
    host: checkHost,
    plugin: { name, version },
    dataDir: setting.dataFolder,
    limits: toldLimits,
  };
}

function readCreated(
  { result, error }: Answer,
  { name, version, protocol, mcp: served }: PluginManifest,
): Started | string {
  if (error !== undefined) return `it answered create with the error ${error.code}: ${error.message}`;
  const plugin = objectOf(result?.["plugin"]);
  const { mcp, health } = objectOf(result?.["capabilities"]);
  if (result?.["protocol"] !== protocol) return `its answer to create has no protocol ${protocol}`;
  if (plugin["name"] !== name)
    return `it names itself ${shown(plugin["name"])} in create, and ${shown(name)} in plugin.json`;
  if (plugin["version"] !== version) {
    return `its version is ${shown(plugin["version"])} in create, and ${shown(version)} in plugin.json`;
  }
  if (typeof mcp !== "boolean" || typeof health !== "boolean") {
    return "its answer to create has no capabilities.mcp and capabilities.health that are true or false";
  }
  const hooks = hooksFault(objectOf(result?.["capabilities"])["hooks"]);
  return hooks === undefined
    ? { mcp: mcp && served, health, unserved: mcp && !served }
    : `its answer to create has capabilities.hooks ${hooks}`;
}

/** One sentence for each answer that PROTOCOL.md forbids. */
export type Problems = string[];

/** Asks and looks at the answer. */
export type Ask = (method: string, params: JsonObject, expected: Expectation, what?: string) => Promise<Answer>;

/** Everything from `health` to the last call. @throws as `Conversation.ask`. */
export async function runScript(
  setting: ScriptSetting,
  { mcp, health }: Started,
  calls: readonly CheckCall[],
  targets: ScriptTargets,
): Promise<Problems> {
  const problems: Problems = [];
  const ask = asking(setting, problems);
  if (health) await ask("ave/instance/health", {}, asHealth);
  const tools = mcp ? await askMcp(ask) : [];
  await ask("ave/no/such", {}, asUnknownAve("ave/no/such"));
  for (const call of calls) await askCall(ask, call);
  for (const name of ["escape_secrets", "escape_network"].filter((each) => tools.includes(each))) {
    await callTool(ask, name, argumentsOf(name, targets));
  }
  return problems;
}

/** The end of an instance, up to the answer of `destroy`. @throws as `Conversation.ask`. */
export async function endScript(setting: ScriptSetting, { mcp }: Started): Promise<Problems> {
  const problems: Problems = [];
  const ask = asking(setting, problems);
  await ask("ave/instance/stop", { deadlineMs: toldStopMs }, aResult());
  if (mcp) await ask("tools/list", withMeta({}), asNotRunning, "tools/list after stop");
  await ask("ave/instance/destroy", {}, aResult());
  return problems;
}

/** The tools of a plugin that was started. @throws as `Conversation.ask`. */
export async function listTools({ conversation, timeouts }: ScriptSetting): Promise<readonly string[]> {
  const { result } = await conversation.ask("tools/list", withMeta({}), timeouts.callMs);
  return toolNames(result);
}

async function askMcp(ask: Ask): Promise<readonly string[]> {
  await ask("server/discover", withMeta({}), asDiscovery);
  const { result } = await ask("tools/list", withMeta({}), asTools);
  const tools = toolNames(result);
  if (tools.includes("echo")) await callTool(ask, "echo", { text });
  await ask("tools/list", {}, asGated, "tools/list without _meta");
  await ask("tools/list", { _meta: { [versionKey]: mcpRevision } }, asGated, "tools/list without clientCapabilities");
  const unknown = withMeta({ name: "no_such_tool", arguments: {} });
  await ask("tools/call", unknown, asUnknownTool, "tools/call of an unknown tool");
  await ask("no/such/method", withMeta({}), asUnknownMethod);
  return tools;
}

/** The arguments of the two escapes that a script tries. */
export function argumentsOf(name: string, { secretsDir, otherDataDir, port }: ScriptTargets): JsonObject {
  return name === "escape_secrets" ? { secretsDir, otherDataDir } : { host: "127.0.0.1", port };
}

async function callTool(ask: Ask, name: string, args: JsonObject): Promise<void> {
  await ask("tools/call", withMeta({ name, arguments: args }), asToolResult, `tools/call of ${name}`);
}

async function askCall(ask: Ask, call: CheckCall): Promise<void> {
  if ("hook" in call) {
    const what = `the hook ${call.hook}`;
    await ask("ave/hook/invoke", hookParams(call.hook, call.payload), asCall("ave/hook/invoke"), what);
    return;
  }
  const { method, params } = call;
  await ask(method, method.startsWith("ave/") ? params : withMeta(params), asCall(method));
}

/** Asks, and writes down what is wrong with the answer. */
export function asking({ conversation, timeouts }: ScriptSetting, problems: Problems): Ask {
  return async (method, params, expected, what = method) => {
    const answer = await conversation.ask(method, params, timeoutOf(method, timeouts));
    const wrong = expected(answer);
    if (wrong !== undefined) problems.push(`${what} ${wrong}`);
    return answer;
  };
}

function timeoutOf(method: string, { healthMs, stopMs, callMs }: ScriptSetting["timeouts"]): number {
  if (method === "ave/instance/health") return healthMs;
  return method === "ave/instance/stop" || method === "ave/instance/destroy" ? stopMs : callMs;
}

function toolNames(result: JsonObject | undefined): readonly string[] {
  const tools = result?.["tools"];
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) => {
    const { name } = objectOf(tool);
    return typeof name === "string" ? [name] : [];
  });
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
