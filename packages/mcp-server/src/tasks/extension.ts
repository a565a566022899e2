import type { JsonObject } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import { isObject } from "../json.js";
import { mcpErrors } from "../wire-errors.js";

/** The extension's name among capabilities (Tasks extension 2026-07-28). */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** What a server that can make tasks adds to its capabilities. */
export const tasksCapability: JsonObject = Object.freeze({ [tasksExtension]: Object.freeze({}) });

/** Whether the client declared the extension with this request. */
export function declaresTasks(capabilities: JsonObject): boolean {
  const { extensions } = capabilities;
  return isObject(extensions) && Object.hasOwn(extensions, tasksExtension) && isObject(extensions[tasksExtension]);
}

/** @throws {RpcError} -32021 unless the client declared the extension with this request. */
export function requireTasks(capabilities: JsonObject): void {
  if (declaresTasks(capabilities)) return;
  throw new RpcError(mcpErrors.missingRequiredClientCapability, "the client did not declare the tasks extension", {
    data: { requiredCapabilities: { extensions: tasksCapability } },
  });
}
