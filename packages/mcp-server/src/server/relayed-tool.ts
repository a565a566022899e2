import type { JsonObject } from "@berth/jsonrpc-framing";
import { isObject, toJson } from "../json.js";
import { anObject, optional } from "../option-check.js";
import type { ProtocolRevision } from "../revisions.js";
import type { Say } from "./collect.js";
import type { RequestContext } from "./context.js";
import { type Core, complete } from "./core.js";
import { headerFaults } from "./header-annotations.js";
import { type HeaderArgument, headerArgumentsOf } from "./header-arguments.js";
import type { Listed } from "./list.js";
import { toolAnnotationKinds } from "./registration-kinds.js";
import { anObjectOf, commonKinds, readRelayed, shownOf } from "./relayed-definition.js";
import { legacyResult, type RelayedCall, relayRounds } from "./relayed-rounds.js";
import { gate } from "./tool-result.js";

/** A tool of another server that speaks 2026-07-28, shown and answered as that server does it. */
export interface RelayedTool<P> {
  /** What the authorizer is asked for. */
  readonly permission: string;
  /** As the other server lists it, under the name that it has here. Clients before 2026-07-28 are shown the members that they know. */
  readonly definition: JsonObject;
  /**
   * Resolves with the result of 2026-07-28, which is sent as it is; one of the type `input_required` becomes requests to clients of older revisions, at most 32 at once and 16 times a
   * call. An `RpcError` is answered as it is.
   */
  call(call: RelayedCall<P>): Promise<JsonObject>;
}

/** A relayed tool as it runs. */
export interface BoundRelay<P> extends Listed {
  readonly relay: RelayedTool<P>["call"];
  readonly headerArguments: readonly HeaderArgument[];
}

const reading = {
  key: "name",
  functions: ["call"],
  kinds: {
    ...commonKinds,
    annotations: optional(anObjectOf("annotations of a tool", toolAnnotationKinds)),
    outputSchema: optional(anObject),
    execution: optional(anObject),
  },
} as const;

/** @param given May be anything: it comes from whoever uses this package. */
export function bindRelay<P>(given: RelayedTool<P>, say: Say): BoundRelay<P> | undefined {
  const read = readRelayed(given, reading, say);
  if (read === undefined) return undefined;
  const { name, permission, definition } = read;
  const { inputSchema } = definition;
  if (!/^[\w.-]{1,128}$/.test(name)) say("a tool's name is 1 to 128 of A-Z a-z 0-9 _ - .");
  if (!isObject(inputSchema) || inputSchema["type"] !== "object") {
    say('inputSchema needs "type": "object" at its root');
    return undefined;
  }
  for (const message of headerFaults(inputSchema)) say(message);
  const render = (revision: ProtocolRevision): JsonObject => shown(definition, revision);
  return { name, permission, relay: given.call, headerArguments: headerArgumentsOf(inputSchema), render };
}

/** Members of a definition that all revisions know, and those that came later. */
const listed = ["name", "description", "inputSchema"] as const;
const listedSince = ["title", "icons", "annotations", "outputSchema", "_meta"] as const;

function shown(definition: JsonObject, revision: ProtocolRevision): JsonObject {
  if (revision >= "2026-07-28") return definition;
  const { outputSchema, ...rest } = shownOf(definition, revision, listed, listedSince);
  const isKnown = isObject(outputSchema) && outputSchema["type"] === "object";
  return toJson(isKnown ? { ...rest, outputSchema } : rest);
}

/** `tools/call` of a relayed tool. */
export async function relayTool<P>(
  core: Core<P>,
  context: RequestContext<P>,
  { name, relay }: BoundRelay<P>,
): Promise<JsonObject> {
  const result = await relayRounds(core, context, `tool "${name}"`, relay);
  if (result["isError"] === true) context.outcome = "tool-error";
  return context.era === "modern" ? complete(core, context, result) : gate(legacyResult(result), context);
}
