import type { Envelope } from "@berth/jsonrpc-framing";
import type { LogGate } from "../pipe/log-gate.js";
import { readParams } from "../pipe/plugin-frame.js";
import type { PluginLogLine } from "./instance.js";

/** The one notification of `ave/` that a plugin may send. */
export const logMethod = "ave/instance/log";

const levels: ReadonlyMap<unknown, PluginLogLine["level"]> = new Map(
  (["debug", "info", "warn", "error"] as const).map((level) => [level, level]),
);

/** Tells the operator what `ave/instance/log` says; false for params of another shape. */
export function tellLog(gate: LogGate, bytes: Uint8Array, envelope: Envelope): boolean {
  const params = readParams(bytes, envelope);
  const level = levels.get(params["level"]);
  const message = params["message"];
  if (level === undefined || typeof message !== "string") return false;
  gate.tell("log", level, message);
  return true;
}
