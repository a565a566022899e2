import { type JsonObject, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import { negotiateRevision } from "../revisions.js";
import { tasksCapability } from "../tasks/extension.js";
import { copyCapabilities } from "./capabilities.js";
import type { RequestContext } from "./context.js";
import { type Core, complete } from "./core.js";
import { isLogLevel } from "./scope.js";

/** `initialize`: settles the revision of the connection (MCP 2025-11-25, Lifecycle). */
export function initialize<P>(core: Core<P>, context: RequestContext<P>): JsonObject {
  const { connection, params } = context;
  const { protocolVersion, capabilities } = params;
  if (typeof protocolVersion !== "string") throw invalid("initialize needs protocolVersion, a string");
  const [newest, ...older] = connection.revisions ?? core.revisions.legacy;
  const revision = newest === undefined ? newest : negotiateRevision(protocolVersion, [newest, ...older]);
  if (revision === undefined) throw invalid("this server has no revision that opens with initialize");
  connection.clientCapabilities = copyCapabilities(capabilities, core.registry.limits.maxCapabilityBytes);
  connection.revision = revision;
  connection.logLevel = "info";
  context.revision = revision;
  const { instructions } = core.options;
  const result = { protocolVersion: revision, capabilities: core.capabilities, serverInfo: core.serverInfo(revision) };
  return instructions === undefined ? result : { ...result, instructions };
}

/** `server/discover` (MCP 2026-07-28). */
export function discover<P>(core: Core<P>, context: RequestContext<P>): JsonObject {
  const { instructions } = core.options;
  const supportedVersions = core.revisions.modern;
  const capabilities =
    core.tasks === undefined ? core.capabilities : { ...core.capabilities, extensions: tasksCapability };
  const result = { supportedVersions, capabilities, ...core.hints };
  return complete(core, context, instructions === undefined ? result : { ...result, instructions });
}

/** `logging/setLevel`, legacy. */
export function setLevel<P>(_core: Core<P>, { connection, params }: RequestContext<P>): JsonObject {
  if (!isLogLevel(params["level"])) throw invalid("there is no such log level");
  connection.logLevel = params["level"];
  return {};
}

function invalid(message: string): RpcError {
  return new RpcError(wireErrors.invalidParams, message);
}
