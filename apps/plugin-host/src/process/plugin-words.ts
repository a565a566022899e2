import { visibleText } from "@berth/mcp-relay";
import { isRpcError } from "@berth/mcp-server";
import { isProcessPluginError } from "@berth/process-plugins";
import { isPluginHostError } from "@berth/venv-host/executor";
import { isObject } from "./plugin-client.js";

/**
 * Why a plugin ended, for its operator, after the name that the configuration has for it.
 * @param manifestName What the message calls it.
 * @param excerpt Escaped, of what it wrote.
 */
export function reasonOf(message: string, manifestName: string | undefined, excerpt: string | undefined): string {
  const before = `plugin ${manifestName ?? ""} `;
  const words = message.startsWith(before) ? `it ${message.slice(before.length)}` : message;
  return excerpt === undefined ? words : `${words} (${JSON.stringify(excerpt)})`;
}

/** What an operator does about a plugin that is refused. */
export function nextStep(error: unknown, isPinned: boolean): string {
  if (!isProcessPluginError(error)) return "start this program again once that is mended";
  const { code, measured, advice } = error;
  if (code !== "PLUGIN_CHANGED") return advice ?? "the next call tries it again";
  const look = "look at what changed";
  if (!isPinned) return `${look}; where it is meant, start this program again`;
  const digest = measured === undefined ? "set `digest:` to what `check` prints" : `set \`digest: ${measured}\``;
  return `${look}; where it is meant, ${digest} in its entry, and start this program again`;
}

/** Whether a call ended since its plugin gave no answer in time. */
export function isSilence(error: unknown): boolean {
  if (isProcessPluginError(error) || isPluginHostError(error)) return error.code === "PLUGIN_TIMEOUT";
  return isRpcError(error) && isObject(error.data) && error.data["reason"] === "PLUGIN_TIMEOUT";
}

/** What the plugin's host says in the plugin's place, in `data` of an error. */
export function hostReason(about: unknown): string | undefined {
  const reason = isObject(about) ? about["reason"] : undefined;
  return typeof reason === "string" && /^[A-Z_]{1,64}$/u.test(reason) ? reason : undefined;
}

/** Whether the plugin itself answered with this error. */
export function isOwnError(error: unknown): boolean {
  return isRpcError(error) && hostReason(error.data) === undefined;
}

/** Named in one line; there may be thousands. */
const maxTold = 10;
const maxNameLength = 128;

/** Names that plugins gave, for an operator's eyes: quoted, cut, and not too many. */
export function told(names: readonly string[]): string {
  const shown = names.slice(0, maxTold).map((name) => visibleText(JSON.stringify(name.slice(0, maxNameLength))));
  return `${shown.join(", ")}${names.length > maxTold ? `, and ${names.length - maxTold} more` : ""}`;
}

/** What a client may know: paths and digests of this machine are for its operator, who has them in the log. */
const words: Readonly<Record<string, string>> = {
  PLUGIN_REJECTED: "is refused: its folder is no plugin that may run",
  PLUGIN_CHANGED: "is refused: it is not what was admitted",
  CONFINEMENT_UNAVAILABLE: "is refused: it cannot be confined here",
  PLUGIN_NOT_STARTED: "could not be started",
  PLUGIN_TIMEOUT: "gave no answer in time",
  PLUGIN_PROTOCOL: "broke the protocol and was ended",
  PLUGIN_EXITED: "has ended",
  PLUGIN_NOT_ENDED: "could not be ended",
  PLUGIN_NOT_RUNNING: "does not run",
  PLUGIN_QUARANTINED: "is held back: it ended by itself too often",
  PLUGIN_ANSWERED_ERROR: "answered with an error",
  NOT_RECORDED: "was not started: that could not be recorded",
  TOO_MANY_CALLS: "has too many calls under way",
};

/** @param plugin As the configuration names it. */
export function wordsForClients(plugin: string, code: string): string {
  return `plugin ${plugin} ${words[code] ?? "cannot be used"}`;
}
