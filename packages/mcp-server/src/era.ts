import { wireErrors } from "@berth/jsonrpc-framing";
import { EraError } from "./errors.js";
import type { LegacyRevision, ModernRevision } from "./revisions.js";
import { mcpErrors } from "./wire-errors.js";

/** `legacy`: opens with `initialize`. `modern`: no handshake, the revision is on each request. */
export type Era = "legacy" | "modern";

/** Keys that a modern request carries in `params._meta` (MCP 2026-07-28, Base protocol § _meta). The first two are required. */
export const modernMetaKeys = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
} as const;

/** The few facts of a client's message that decide its era. */
export interface EraQuestion {
  readonly method: string;
  /** `params._meta["io.modelcontextprotocol/protocolVersion"]` as parsed; undefined when the key is absent. */
  readonly metaVersion?: unknown;
  /** Whether `params._meta["io.modelcontextprotocol/clientCapabilities"]` is an object. */
  readonly hasClientCapabilities?: boolean | undefined;
  /** Whether this connection has seen `initialize`. */
  readonly initialized: boolean;
}

/** Which revisions a server serves, newest first in each. */
export interface ServedRevisions {
  readonly legacy: readonly LegacyRevision[];
  readonly modern: readonly ModernRevision[];
}

/** What a message is to be read as. */
export type EraDecision = { readonly era: "legacy" } | { readonly era: "modern"; readonly revision: ModernRevision };

/**
 * Decides, for each message alone and without state beyond `initialized`, by which era's rules it is read
 * (MCP 2026-07-28, Transports § Backward compatibility). Pure.
 *
 * A request that names a revision in `_meta` is modern, also when its method is `initialize`. Any other is legacy, and needs
 * `initialize` (or `ping`) first.
 *
 * @throws {EraError} `META_INCOMPLETE` (-32602), `REVISION_UNSUPPORTED` (-32022 with `supported` and `requested`), `METHOD_UNKNOWN` (-32601:
 * a modern `initialize`; or `server/discover` at a server that serves no modern revision, which is how every legacy server answers it and
 * what makes a client fall back), `NOT_INITIALIZED` (-32602 naming the revisions that are served).
 */
export function decideEra(question: EraQuestion, served: ServedRevisions): EraDecision {
  return question.metaVersion === undefined ? decideLegacy(question, served) : decideModern(question, served);
}

function decideModern(question: EraQuestion, served: ServedRevisions): EraDecision {
  const { method, metaVersion } = question;
  if (method === "server/discover" && served.modern.length === 0) throw unknownMethod(method);
  if (typeof metaVersion !== "string") {
    throw metaIncomplete(`${modernMetaKeys.protocolVersion} in params._meta must be a string`);
  }
  const revision = served.modern.find((candidate) => candidate === metaVersion);
  if (revision === undefined) throw unsupportedRevision(metaVersion, served);
  if (question.hasClientCapabilities !== true) {
    throw metaIncomplete(`params._meta needs ${modernMetaKeys.clientCapabilities}, an object`);
  }
  if (method === "initialize") throw unknownMethod(method);
  return { era: "modern", revision };
}

function decideLegacy({ method, initialized }: EraQuestion, served: ServedRevisions): EraDecision {
  if (served.legacy.length === 0) throw metaIncomplete(missingMeta(served));
  if (initialized || method === "initialize" || method === "ping") return { era: "legacy" };
  if (method === "server/discover" && served.modern.length === 0) throw unknownMethod(method);
  const text =
    served.modern.length === 0
      ? `initialize first; this server speaks ${served.legacy.join(", ")}`
      : `initialize first, or ${missingMeta(served)}`;
  throw new EraError("NOT_INITIALIZED", text, { code: wireErrors.invalidParams });
}

function missingMeta({ legacy, modern }: ServedRevisions): string {
  const keys = `${modernMetaKeys.protocolVersion} and ${modernMetaKeys.clientCapabilities}`;
  return `send ${keys} in params._meta; this server speaks ${[...modern, ...legacy].join(", ")}`;
}

function metaIncomplete(message: string): EraError {
  return new EraError("META_INCOMPLETE", message, { code: wireErrors.invalidParams });
}

function unknownMethod(method: string): EraError {
  return new EraError("METHOD_UNKNOWN", `Method not found: ${method}`, { code: wireErrors.methodNotFound });
}

function unsupportedRevision(requested: string, served: ServedRevisions): EraError {
  // What a client can put on its next request, hence what `server/discover` tells; the text names those that open with `initialize` too.
  const supported = served.modern.length > 0 ? served.modern : served.legacy;
  const all = [...served.modern, ...served.legacy].join(", ");
  return new EraError("REVISION_UNSUPPORTED", `protocol version not served; supported: ${all}`, {
    code: mcpErrors.unsupportedProtocolVersion,
    data: { supported: [...supported], requested },
  });
}
