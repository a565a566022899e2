import type { JsonObject } from "@berth/jsonrpc-framing";
import { isObject, toJson } from "../json.js";
import { aFlag, aText, optional } from "../option-check.js";
import type { ProtocolRevision } from "../revisions.js";
import type { Say } from "./collect.js";
import type { RequestContext } from "./context.js";
import { type Core, complete } from "./core.js";
import { knownMessages } from "./known-content.js";
import type { Listed } from "./list.js";
import { someText } from "./registration-kinds.js";
import { aListOf, commonKinds, isVisible, readRelayed, shownOf } from "./relayed-definition.js";
import { legacyResult, type Relay, type RelayedCall, relayRounds } from "./relayed-rounds.js";
import { knows } from "./render.js";

/** A prompt of another server that speaks 2026-07-28, shown and answered as that server does it. */
export interface RelayedPrompt<P> {
  /** What the authorizer is asked for. */
  readonly permission: string;
  /**
   * As the other server lists it, under the name that it has here: 1 to 128 characters that can be seen. Clients before 2026-07-28 are shown the members that they know.
   */
  readonly definition: JsonObject;
  /** As `call` of a `RelayedTool`, for `prompts/get`. */
  get(call: RelayedCall<P>): Promise<JsonObject>;
  /** For `completion/complete`: resolves with its result of 2026-07-28. Absent: no values are proposed. */
  complete?(call: RelayedCall<P>): Promise<JsonObject>;
}

/** A relayed prompt as it runs. */
export interface BoundRelayedPrompt<P> extends Listed {
  readonly relay: Relay<P>;
  readonly complete: Relay<P> | undefined;
}

const maxNameLength = 128;
const reading = {
  key: "name",
  functions: ["get"],
  kinds: {
    ...commonKinds,
    arguments: optional(
      aListOf("a list of arguments with names", {
        name: aText,
        title: someText,
        description: someText,
        required: optional(aFlag),
      }),
    ),
  },
} as const;

/** @param given May be anything: it comes from whoever uses this package. */
export function bindRelayedPrompt<P>(given: RelayedPrompt<P>, say: Say): BoundRelayedPrompt<P> | undefined {
  const read = readRelayed(given, reading, say);
  if (read === undefined) return undefined;
  const { name, permission, definition } = read;
  if (name === "" || name.length > maxNameLength || !isVisible(name))
    say(`a prompt's name is 1 to ${maxNameLength} characters that can be seen`);
  const render = (revision: ProtocolRevision): JsonObject => shown(definition, revision);
  return { name, permission, relay: (call) => given.get(call), complete: completeOf(given), render };
}

/** Of a prompt or a template, which says so by having it. */
export function completeOf<P>(given: {
  readonly complete?: ((call: RelayedCall<P>) => Promise<JsonObject>) | undefined;
}): Relay<P> | undefined {
  return given.complete === undefined ? undefined : (call) => given.complete?.(call) ?? Promise.resolve({});
}

function shown(definition: JsonObject, revision: ProtocolRevision): JsonObject {
  if (revision >= "2026-07-28") return definition;
  const { arguments: given, ...rest } = shownOf(
    definition,
    revision,
    ["name", "description", "arguments"],
    ["title", "icons", "_meta"],
  );
  if (!Array.isArray(given)) return toJson(rest);
  const withTitle = knows(revision, "title");
  const known = given.map((one: unknown) => {
    if (!isObject(one)) return one;
    const { name, title, description, required } = one;
    return { name, title: withTitle ? title : undefined, description, required };
  });
  return toJson({ ...rest, arguments: known });
}

/** `prompts/get` of a relayed prompt. */
export async function relayPrompt<P>(
  core: Core<P>,
  context: RequestContext<P>,
  { name, relay }: BoundRelayedPrompt<P>,
): Promise<JsonObject> {
  const result = await relayRounds(core, context, `prompt "${name}"`, relay);
  if (context.era === "modern") return complete(core, context, result);
  const { messages, ...rest } = legacyResult(result);
  if (messages === undefined) return rest;
  return { ...rest, messages: Array.isArray(messages) ? knownMessages(messages, context.revision) : messages };
}
