import type { Logger } from "@berth/command-line";
import type {
  RelayedAddresses,
  RelayedPrompt,
  RelayedResource,
  RelayedResourceTemplate,
  RelayedTool,
} from "@berth/mcp-server";
import { firstOwners } from "./first-owners.js";
import { createMcpHalf } from "./mcp-halves.js";
import { type Processes, reasonsOf } from "./open-processes.js";
import type { PluginCalls } from "./plugin-calls.js";
import { noOffers, offersOf, type PluginOffers } from "./plugin-offers.js";

/** What all process plugins have, in the order of the configuration. */
export interface Offers {
  readonly tools: readonly RelayedTool<string>[];
  readonly prompts: readonly RelayedPrompt<string>[];
  readonly resources: readonly RelayedResource<string>[];
  readonly templates: readonly RelayedResourceTemplate<string>[];
  /** Of the only plugin that has resources. */
  readonly addresses: RelayedAddresses<string> | undefined;
}

export interface OffersOptions {
  readonly permission: string;
  readonly calls: PluginCalls;
  readonly logger: Pick<Logger, "warn" | "error">;
  readonly signal: AbortSignal;
}

/** For all lists of one plugin. */
const listMs = 120_000;
const unserved = "its tools, prompts and resources are not served until this program is started again";

/** Of those that run; one that cannot say what it has is told, and its hooks stand by themselves. */
export async function offersOfProcesses(processes: Processes, options: OffersOptions): Promise<Offers> {
  const all = await Promise.all(processes.names.map((plugin) => offersOfOne(plugin, processes, options)));
  const onNote = (plugin: string, line: string): void => options.logger.warn({ plugin }, line);
  const listings = <R>(of: (offers: PluginOffers) => readonly R[]) =>
    all.map((offers) => ({ plugin: offers.plugin, listed: of(offers) }));
  return {
    tools: all.flatMap(({ tools }) => tools),
    prompts: all.flatMap(({ prompts }) => prompts),
    resources: firstOwners(
      "resources",
      listings(({ resources }) => resources),
      onNote,
    ),
    templates: firstOwners(
      "resource templates",
      listings(({ templates }) => templates),
      onNote,
    ),
    addresses: onlyOne(all),
  };
}

/** With several nobody could say whose an address is that none of them lists. */
function onlyOne(all: readonly PluginOffers[]): RelayedAddresses<string> | undefined {
  const [only, ...others] = all.filter(({ addresses, isUnknown }) => addresses !== undefined || isUnknown);
  return others.length === 0 ? only?.addresses : undefined;
}

async function offersOfOne(
  plugin: string,
  { supervisor, watch }: Processes,
  { permission, calls, logger, signal }: OffersOptions,
): Promise<PluginOffers> {
  const onNote = (line: string): void => logger.warn({ plugin }, line);
  const onGone = (error: unknown, isAtFirst: boolean): void => {
    const what = isAtFirst ? "its tools" : "what it has beside tools";
    if (watch.wasTold(error)) onNote(unserved);
    else logger.error({ plugin }, `${what} cannot be listed: ${reasonsOf(error).join("; ")}`);
  };
  // Why was told a moment ago; another try would count as another end of its own.
  if (supervisor.list().some(({ name, message }) => name === plugin && message !== undefined)) {
    onNote(unserved);
    return noOffers(plugin, true);
  }
  try {
    if (!(await supervisor.instance(plugin, { signal })).capabilities.mcp) return noOffers(plugin, false);
  } catch (error) {
    signal.throwIfAborted();
    onGone(error, true);
    return noOffers(plugin, true);
  }
  const half = createMcpHalf(plugin, { supervisor, watch });
  return offersOf({ half, calls }, permission, { signal, onNote, onGone, listMs });
}
