import type { JsonObject } from "@berth/jsonrpc-framing";
import { modernMetaKeys } from "@berth/mcp-server/protocol";
import { version } from "../version.js";
import { isObject } from "./plugin-client.js";

/** Capabilities that a client of an older revision can declare and that mean the same in 2026-07-28. */
const carried = ["experimental", "sampling", "elicitation", "extensions"] as const;

/** `_meta` of a request of the host's own. */
export function ownMeta(): JsonObject {
  return metaFor({}, {});
}

/** `_meta` for a plugin: what the client sent, with what a request of 2026-07-28 needs where that is not there. */
export function metaFor(given: JsonObject, capabilities: JsonObject): JsonObject {
  const { progressToken: _theirs, ...kept } = given;
  if (typeof kept[modernMetaKeys.protocolVersion] === "string") return kept;
  const declared = Object.fromEntries(
    carried.flatMap((name) => (isObject(capabilities[name]) ? [[name, capabilities[name]]] : [])),
  );
  const roots = isObject(capabilities["roots"]) ? { roots: {} } : {};
  return {
    ...kept,
    [modernMetaKeys.protocolVersion]: "2026-07-28",
    [modernMetaKeys.clientCapabilities]: { ...declared, ...roots },
    [modernMetaKeys.clientInfo]: { name: "berth-plugin-host", version },
  };
}
