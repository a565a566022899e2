import type { Scheduler } from "@berth/jsonrpc-framing";
import { type ListKind, listKinds } from "../list-kinds.js";
import type { RelayNotice } from "../relay-options.js";
import type { RelayTerms, ServerTerms } from "../relay-terms.js";
import { quotedName } from "../visible-text.js";
import type { ReportDrift } from "./drift-report.js";
import { fetchList, maxElements } from "./fetch-list.js";
import { type JudgedList, judgeList } from "./judge-list.js";
import { createListing, type Listing } from "./listing.js";
import type { Peer } from "./peer.js";

/** The lists of one child. */
export type ChildListings = Readonly<Record<ListKind, Listing>>;

/** What fetching and judging lists needs, and who hears of them. */
export interface ListingContext {
  readonly peer: Peer;
  readonly terms: ServerTerms;
  readonly limits: Pick<RelayTerms["limits"], "maxListPages" | "maxListBytes">;
  readonly scheduler: Scheduler;
  readonly reportDrift: ReportDrift;
  onNotice(notice: RelayNotice): void;
  /** A list came and was compared with its pins. */
  onListed(kind: ListKind, list: JudgedList): void;
}

/** Nothing fetched yet. */
export function createChildListings(context: ListingContext): ChildListings {
  const listing = (kind: ListKind): Listing =>
    createListing(async () => {
      const list = await fetchJudged(kind, context);
      reportList(kind, list, context);
      context.onListed(kind, list);
      return list;
    });
  return {
    tools: listing("tools"),
    prompts: listing("prompts"),
    resources: listing("resources"),
    resourceTemplates: listing("resourceTemplates"),
  };
}

async function fetchJudged(kind: ListKind, { peer, terms, limits, scheduler }: ListingContext): Promise<JudgedList> {
  const rules = listKinds[kind];
  const { name, waits, tools } = terms;
  const { maxListPages: maxPages, maxListBytes: maxBytes } = limits;
  const pins = rules.pinning?.pinned(tools);
  const most = pins === undefined ? maxElements.shown : maxElements.compared;
  const bounds = { listMs: waits.listMs, maxPages, maxBytes, maxElements: most, now: () => scheduler.now() };
  return judgeList(await fetchList(peer, name, rules, bounds), rules.nameMember, pins);
}

function reportList(kind: ListKind, list: JudgedList, { terms, reportDrift, onNotice }: ListingContext): void {
  const drift = listKinds[kind].pinning?.drift;
  if (drift !== undefined) for (const change of list.changes) reportDrift({ kind: drift, ...change });
  const notice = (code: string, message: string): void => onNotice({ code, server: terms.name, message });
  if (list.nameless > 0) notice("ELEMENT_WITHOUT_NAME", `${list.nameless} of ${kind} have no name and are left out`);
  for (const name of list.repeated) notice("NAME_REPEATED", `${kind}: ${quotedName(name)} is listed twice`);
}
