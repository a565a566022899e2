import { anObject } from "../option-check.js";
import type { Fault, Say } from "./collect.js";
import type { Listed } from "./list.js";
import type { McpServerOptions } from "./options.js";
import type { Registry } from "./registry.js";
import { type BoundRelayedPrompt, bindRelayedPrompt } from "./relayed-prompt.js";
import {
  type BoundRelayedResource,
  type BoundRelayedTemplate,
  bindRelayedResource,
  bindRelayedTemplate,
  type RelayedAddresses,
} from "./relayed-resource.js";
import type { Relay } from "./relayed-rounds.js";
import { type BoundRelay, bindRelay } from "./relayed-tool.js";

/** What other servers have. No name or address is also one of the server's own. */
export interface RelayedRegistry<P> {
  readonly tools: ReadonlyMap<string, BoundRelay<P>>;
  readonly prompts: ReadonlyMap<string, BoundRelayedPrompt<P>>;
  readonly resources: ReadonlyMap<string, BoundRelayedResource<P>>;
  readonly templates: ReadonlyMap<string, BoundRelayedTemplate<P>>;
  /** For all other addresses. */
  readonly addresses: { readonly permission: string; readonly relay: Relay<P> } | undefined;
}

/** Names are shared with what the server itself has. */
export function collectRelayed<P>(
  options: McpServerOptions<P>,
  own: Pick<Registry<P>, "tools" | "prompts" | "resources" | "templates">,
  fault: Fault,
): RelayedRegistry<P> {
  return {
    tools: collect("relayedTools", options.relayedTools, own.tools, bindRelay, fault),
    prompts: collect("relayedPrompts", options.relayedPrompts, own.prompts, bindRelayedPrompt, fault),
    resources: collect("relayedResources", options.relayedResources, own.resources, bindRelayedResource, fault),
    templates: collect(
      "relayedResourceTemplates",
      options.relayedResourceTemplates,
      own.templates,
      bindRelayedTemplate,
      fault,
    ),
    addresses: bindAddresses(options.relayedAddresses, (message) => fault("relayedAddresses", message)),
  };
}

function collect<D, B extends Listed>(
  member: string,
  given: readonly D[] | undefined,
  own: ReadonlyMap<string, unknown>,
  bind: (given: D, say: Say) => B | undefined,
  fault: Fault,
): ReadonlyMap<string, B> {
  const bound = new Map<string, B>();
  for (const [index, one] of listOf(given).entries()) {
    const say = (message: string): void => fault(`${member}[${index}]`, message);
    const made = bind(one, say);
    if (made === undefined) continue;
    if (own.has(made.name) || bound.has(made.name)) say(`${JSON.stringify(made.name)} is registered twice`);
    bound.set(made.name, made);
  }
  return bound;
}

/** What is no list was told with the options. */
function listOf<D>(given: readonly D[] | undefined): readonly D[] {
  return Array.isArray(given) ? given : [];
}

function bindAddresses<P>(given: RelayedAddresses<P> | undefined, say: Say): RelayedRegistry<P>["addresses"] {
  if (given === undefined || !anObject.fits(given)) return undefined;
  const { permission } = given;
  if (typeof permission !== "string" || permission === "") say("names no permission");
  if (typeof given.read !== "function") say("has no read function");
  return { permission, relay: (call) => given.read(call) };
}
