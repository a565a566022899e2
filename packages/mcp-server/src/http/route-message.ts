import { type JsonValue, type Message, wireErrors } from "@berth/jsonrpc-framing";
import { modernMetaKeys, type ServedRevisions } from "../era.js";
import { metaOf } from "../request-meta.js";
import { withoutBlanks } from "../server/header-value.js";
import { mcpErrors } from "../wire-errors.js";
import { HttpRefusal } from "./refusals.js";

/** By whose rules a message by POST is answered. */
export type Route = "legacy" | "modern-request" | "modern-notification";

/**
 * Decides the era of one message: its body does, never a header, which can only be a reason to refuse it (MCP 2026-07-28, Transports §
 * Backward compatibility). Pure.
 * @param header `MCP-Protocol-Version`
 * @throws {HttpRefusal} 400
 */
export function routeMessage(message: Message, header: string | undefined, served: ServedRevisions): Route {
  const legacy = served.legacy.length > 0;
  if (message.kind === "response" || message.kind === "error") {
    if (legacy) return "legacy";
    throw new HttpRefusal(400, wireErrors.invalidRequest, "this server asks nothing");
  }
  const version = metaVersion(message.params);
  const named = header === undefined ? undefined : withoutBlanks(header);
  const isModernNamed = served.modern.some((revision) => revision === named);
  if (message.kind === "request") {
    if (version !== undefined) return "modern-request";
    if (isModernNamed) throw missingMeta();
    return legacy ? "legacy" : "modern-request"; // the core answers what is missing
  }
  if (version !== undefined) return checkNotification(version, named, served);
  if (isModernNamed) return "modern-notification";
  if (legacy) return "legacy";
  throw missingMeta();
}

function metaVersion(params: JsonValue | undefined): JsonValue | undefined {
  return metaOf(params)[modernMetaKeys.protocolVersion];
}

function checkNotification(version: JsonValue, named: string | undefined, { modern }: ServedRevisions): Route {
  if (version !== named)
    throw new HttpRefusal(400, mcpErrors.headerMismatch, "MCP-Protocol-Version differs from the body");
  if (modern.some((revision) => revision === version)) return "modern-notification";
  const data = { supported: [...modern], requested: version };
  throw new HttpRefusal(400, mcpErrors.unsupportedProtocolVersion, "protocol version not served", {}, data);
}

function missingMeta(): HttpRefusal {
  const keys = `${modernMetaKeys.protocolVersion} and ${modernMetaKeys.clientCapabilities}`;
  return new HttpRefusal(400, wireErrors.invalidParams, `params._meta needs ${keys}`);
}
