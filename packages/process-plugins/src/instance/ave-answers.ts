import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import type { PluginManifest } from "../manifest/manifest.js";
import { cutBytes, escapeText } from "../pipe/escape-text.js";
import { areHookNames } from "./hook-names.js";
import type { PluginInstance } from "./instance.js";

/** What a plugin can do, as it said at `create`. */
export type Capabilities = PluginInstance["capabilities"];
export type Health = Awaited<ReturnType<PluginInstance["health"]>>;

/** A reading, or what is wrong with the answer. */
export type AnswerReading<T> = { readonly value: T } | { readonly fault: string };

/** PROTOCOL.md § 4: it has to say that it is what the manifest says. Members that are not known are passed over. */
export function readCreated(answer: JsonObject, manifest: PluginManifest): AnswerReading<Capabilities> {
  const { protocol, plugin, capabilities } = answer;
  if (protocol !== manifest.protocol) return wrong("protocol", protocol, manifest.protocol);
  if (!isObject(plugin)) return wrong("plugin", plugin);
  const { name, version } = plugin;
  if (name !== manifest.name) return wrong("plugin.name", name, manifest.name);
  if (version !== manifest.version) return wrong("plugin.version", version, manifest.version);
  if (!isObject(capabilities)) return wrong("capabilities", capabilities);
  const { mcp, health, hooks = [] } = capabilities;
  if (typeof mcp !== "boolean") return wrong("capabilities.mcp", mcp);
  if (typeof health !== "boolean") return wrong("capabilities.health", health);
  if (!areHookNames(hooks)) return wrong("capabilities.hooks", hooks);
  // What the manifest does not declare is not served, whatever is said later.
  return { value: { mcp: mcp && manifest.mcp, health, hooks } };
}

/** The answer of `start`. */
export function readStarted({ status }: JsonObject): AnswerReading<"running"> {
  return status === "running" ? { value: status } : wrong("status", status, "running");
}

/** The answer of `health`; its text is the plugin's, escaped and cut. */
export function readHealth({ status, detail }: JsonObject, maxBytes: number): AnswerReading<Health> {
  if (status !== "ok" && status !== "degraded") return wrong("status", status);
  if (detail !== undefined && typeof detail !== "string") return wrong("detail", detail);
  return { value: { status, detail: detail === undefined ? undefined : escapeText(cutBytes(detail, maxBytes)) } };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const maxShownChars = 100;

function wrong(member: string, value: JsonValue | undefined, expected?: JsonValue): { readonly fault: string } {
  const what = value === undefined ? "is missing" : `is ${escapeText(JSON.stringify(value).slice(0, maxShownChars))}`;
  return { fault: `${member} ${what}${expected === undefined ? "" : `, not ${JSON.stringify(expected)}`}` };
}
