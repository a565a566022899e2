import { type JsonObject, wireErrors } from "@berth/jsonrpc-framing";
import { isRpcError, RpcError } from "../errors.js";
import { isObject, toJson } from "../json.js";
import { aText, kind, optional } from "../option-check.js";
import type { ProtocolRevision } from "../revisions.js";
import { mcpErrors } from "../wire-errors.js";
import type { Say } from "./collect.js";
import type { RequestContext } from "./context.js";
import { type Core, complete } from "./core.js";
import { maxAddressLength } from "./limits.js";
import type { Listed } from "./list.js";
import { resourceAnnotationKinds, someText } from "./registration-kinds.js";
import { anObjectOf, commonKinds, isVisible, readRelayed, shownOf } from "./relayed-definition.js";
import { completeOf } from "./relayed-prompt.js";
import { legacyResult, type Relay, type RelayedCall, relayRounds } from "./relayed-rounds.js";

/** A resource of another server that speaks 2026-07-28, shown and read as that server does it. Clients cannot subscribe to it. */
export interface RelayedResource<P> {
  /** What the authorizer is asked for. */
  readonly permission: string;
  /** As the other server lists it: `uri` is absolute. Clients before 2026-07-28 are shown the members that they know. */
  readonly definition: JsonObject;
  /** As `call` of a `RelayedTool`, for `resources/read`. */
  read(call: RelayedCall<P>): Promise<JsonObject>;
}

/** Resources of another server whose addresses follow a pattern. */
export interface RelayedResourceTemplate<P> extends RelayedResource<P> {
  /** As the other server lists it, with `uriTemplate`. */
  readonly definition: JsonObject;
  /** Whether an address that is not listed is one of these. Asked in the order of the list, once for each read: it has to be quick, whatever the address. */
  matches(uri: string): boolean;
  /** For `completion/complete`: resolves with its result of 2026-07-28. Absent: no values are proposed. */
  complete?(call: RelayedCall<P>): Promise<JsonObject>;
}

/** The one other server that is asked for addresses which nothing here lists or matches. */
export type RelayedAddresses<P> = Omit<RelayedResource<P>, "definition">;

/** A relayed resource as it is read. */
export interface BoundRelayedResource<P> extends Listed {
  readonly relay: Relay<P>;
}
/** A relayed template as it is read. */
export interface BoundRelayedTemplate<P> extends BoundRelayedResource<P> {
  matches(uri: string): boolean;
  readonly complete: Relay<P> | undefined;
}

const kinds = {
  ...commonKinds,
  name: aText,
  mimeType: someText,
  annotations: optional(anObjectOf("annotations of a resource", resourceAnnotationKinds)),
} as const;
const size = optional(kind("a number of bytes", (value) => typeof value === "number"));
const listed = ["name", "description", "mimeType", "annotations"] as const;
const listedSince = ["title", "icons", "_meta"] as const;

/** @param given May be anything: it comes from whoever uses this package. */
export function bindRelayedResource<P>(given: RelayedResource<P>, say: Say): BoundRelayedResource<P> | undefined {
  const read = readRelayed(given, { key: "uri", functions: ["read"], kinds: { ...kinds, size } }, say);
  if (read === undefined) return undefined;
  const { name, permission, definition } = read;
  checkAddress(name, say);
  if (!URL.canParse(name)) say("the address is not absolute");
  const render = renderer(definition, ["uri", ...listed, "size"]);
  return { name, permission, relay: (call) => given.read(call), render };
}

/** @param given May be anything: it comes from whoever uses this package. */
export function bindRelayedTemplate<P>(
  given: RelayedResourceTemplate<P>,
  say: Say,
): BoundRelayedTemplate<P> | undefined {
  const read = readRelayed(given, { key: "uriTemplate", functions: ["read", "matches"], kinds }, say);
  if (read === undefined) return undefined;
  const { name, permission, definition } = read;
  checkAddress(name, say);
  return {
    name,
    permission,
    relay: (call) => given.read(call),
    matches: (uri) => given.matches(uri) === true,
    complete: completeOf(given),
    render: renderer(definition, ["uriTemplate", ...listed]),
  };
}

function checkAddress(address: string, say: Say): void {
  if (address === "" || address.length > maxAddressLength || !isVisible(address))
    say(`an address is 1 to ${maxAddressLength} characters that can be seen`);
}

function renderer(definition: JsonObject, always: readonly string[]): (revision: ProtocolRevision) => JsonObject {
  return (revision) =>
    revision >= "2026-07-28" ? definition : toJson(shownOf(definition, revision, always, listedSince));
}

/** `resources/read` of what another server has. */
export async function relayRead<P>(
  core: Core<P>,
  context: RequestContext<P>,
  uri: string,
  relay: Relay<P>,
): Promise<JsonObject> {
  try {
    const result = await relayRounds(core, context, "the resource", relay);
    if (context.era === "legacy") return legacyResult(result);
    const isComplete = (result["resultType"] ?? "complete") === "complete";
    return complete(core, context, isComplete ? { ...core.hints, ...result } : result);
  } catch (error) {
    throw isRpcError(error) ? missingFor(context, uri, error) : error;
  }
}

/** What is not there has a code of its own in older revisions; in 2026-07-28 it is the address in `data` that tells. */
function missingFor<P>({ era }: RequestContext<P>, uri: string, error: RpcError): RpcError {
  const { code, message, data } = error;
  const isMissing = code === wireErrors.invalidParams || code === mcpErrors.resourceNotFound;
  if (!isMissing || !isObject(data) || data["uri"] !== uri) return error;
  return new RpcError(era === "modern" ? wireErrors.invalidParams : mcpErrors.resourceNotFound, message, { data });
}
