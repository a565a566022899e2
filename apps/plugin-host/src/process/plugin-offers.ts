import type {
  RelayedAddresses,
  RelayedPrompt,
  RelayedResource,
  RelayedResourceTemplate,
  RelayedTool,
} from "@berth/mcp-server";
import { reasonsOf } from "./open-processes.js";
import { isObject } from "./plugin-client.js";
import { isOwnError } from "./plugin-words.js";
import type { ReadListOptions } from "./read-list.js";
import type { RelayParts } from "./relay-request.js";
import { relayedPrompts } from "./relayed-prompts.js";
import { type Addressed, relayedResources, relayedTemplates, unlistedResources } from "./relayed-resources.js";
import { relayedTools } from "./relayed-tools.js";
import { ownMeta } from "./request-meta.js";

/** What the MCP half of one plugin has. */
export interface PluginOffers {
  readonly plugin: string;
  readonly tools: readonly RelayedTool<string>[];
  readonly prompts: readonly RelayedPrompt<string>[];
  readonly resources: readonly Addressed<RelayedResource<string>>[];
  readonly templates: readonly Addressed<RelayedResourceTemplate<string>>[];
  /** For addresses that it does not list; undefined where it has no resources. */
  readonly addresses: RelayedAddresses<string> | undefined;
  /** It could not be asked: it may have resources. */
  readonly isUnknown: boolean;
}

export function noOffers(plugin: string, isUnknown: boolean): PluginOffers {
  return { plugin, tools: [], prompts: [], resources: [], templates: [], addresses: undefined, isUnknown };
}

/** How one plugin is asked. */
export interface OffersOfOptions extends ReadListOptions {
  /** It gives no answers any more: why, and whether that was before it said its tools. What it said before is served. */
  readonly onGone: (fault: unknown, isAtFirst: boolean) => void;
  /** For all lists together, in milliseconds: nobody is served while one plugin takes its time for each page. */
  readonly listMs: number;
}

/** Asks one plugin for all that it has. A list that it answers with an error is told and left out, and the others are served. */
export async function offersOf(
  parts: RelayParts,
  permission: string,
  { onGone, listMs, signal, onNote }: OffersOfOptions,
): Promise<PluginOffers> {
  const late = AbortSignal.timeout(listMs);
  const options = { signal: AbortSignal.any([signal, late]), onNote };
  let offers: PluginOffers = noOffers(parts.half.plugin, true);
  const told = async <T>(asking: Promise<readonly T[]>, what: string): Promise<readonly T[]> => {
    const { answer, fault } = await ownAnswer(asking);
    if (fault !== undefined) onNote(`${what} cannot be listed: ${reasonsOf(fault).join("; ")}`);
    return answer ?? [];
  };
  let isAtFirst = true;
  try {
    // First: a plugin that says nothing of what it has is taken for one with tools.
    const tools = await ownAnswer(relayedTools(parts, permission, options));
    isAtFirst = false;
    offers = { ...offers, tools: tools.answer ?? [] };
    const has = await capabilitiesOf(parts, options);
    if (tools.fault !== undefined && (has.tools || !(has.prompts || has.resources)))
      await told(Promise.reject(tools.fault), "its tools");
    if (has.resources) offers = { ...offers, addresses: unlistedResources(parts, permission) };
    offers = { ...offers, isUnknown: false };
    if (has.prompts) {
      const prompts = await told(relayedPrompts(parts, permission, has.completions, options), "its prompts");
      offers = { ...offers, prompts };
    }
    if (!has.resources) return offers;
    const resources = await told(relayedResources(parts, permission, options), "its resources");
    offers = { ...offers, resources };
    const listing = relayedTemplates(parts, permission, has.completions, options);
    return { ...offers, templates: await told(listing, "its resource templates") };
  } catch (fault) {
    signal.throwIfAborted();
    onGone(late.aborted ? new Error(`the plugin took more than ${listMs} ms for its lists`) : fault, isAtFirst);
    return offers;
  }
}

type Capability = "tools" | "prompts" | "resources" | "completions";

/** What it says in `server/discover`. */
async function capabilitiesOf(
  { half }: RelayParts,
  { signal, onNote }: ReadListOptions,
): Promise<Readonly<Record<Capability, boolean>>> {
  const asking = half.request({ method: "server/discover", params: { _meta: ownMeta() }, signal });
  const { answer, fault } = await ownAnswer(asking);
  if (fault !== undefined) onNote(`it does not say what it has beside tools: ${reasonsOf(fault).join("; ")}`);
  const said = answer?.["capabilities"];
  const has = (name: Capability): boolean => isObject(said) && isObject(said[name]);
  return {
    tools: has("tools"),
    prompts: has("prompts"),
    resources: has("resources"),
    completions: has("completions"),
  };
}

/**
 * An error that the plugin itself answered leaves the rest to be asked.
 * @throws any other: the plugin has ended, or gives no answers.
 */
async function ownAnswer<T>(
  asking: Promise<T>,
): Promise<{ readonly answer?: T | undefined; readonly fault?: unknown }> {
  try {
    return { answer: await asking };
  } catch (fault) {
    if (isOwnError(fault)) return { fault };
    throw fault;
  }
}
