import type { Envelope, Scheduler } from "@berth/jsonrpc-framing";
import type { ExitReport, UpstreamConnection, UpstreamEvidence } from "../connection.js";
import { type ListKind, listKinds } from "../list-kinds.js";
import type { DriftSeen, RelayEvent } from "../relay-event.js";
import type { RelayNotice, UpstreamFault } from "../relay-options.js";
import type { ServerTerms } from "../relay-terms.js";
import { visibleText } from "../visible-text.js";
import { fetchList } from "./fetch-list.js";
import type { Introduction } from "./handshake.js";
import { type JudgedList, judgeList } from "./judge-list.js";
import { createListing, type Listing } from "./listing.js";
import { createPeer, type Peer } from "./peer.js";
import { createThrottle } from "./throttle.js";

/** How long a child's exit status is waited for once its closing is done. */
const exitReportMs = 1_000;

/** Differences that are recorded of one child: one that invents tools without end must not fill the log. */
const maxDrift = 256;

/** One child, from the moment it runs. */
export interface Child {
  readonly server: string;
  readonly peer: Peer;
  readonly evidence: UpstreamEvidence;
  readonly listings: Readonly<Record<ListKind, Listing>>;
  /** Requests of this child that the client has not answered: the child's id to the client's. Kept by the session. */
  readonly requests: Map<string | number, number>;
  /** Relayed calls by the progress token that the client gave them. Kept by the session. */
  readonly progressTokens: Map<string | number, number>;
  /** Records a difference once. */
  reportDrift(drift: Omit<DriftSeen, "type" | "server" | "observed">): void;
  /** Settles when the child is gone and that was recorded; never rejects. */
  readonly ended: Promise<void>;
}

/** A child that has introduced itself and may be called. */
export interface LiveChild extends Child {
  readonly introduction: Introduction;
}

/** What a child needs from its session. */
export interface ChildContext {
  readonly scheduler: Scheduler;
  readonly observe: boolean;
  readonly limits: { readonly maxListPages: number; readonly maxListBytes: number };
  onRequest(child: Child, frame: Uint8Array, envelope: Envelope): void;
  onNotification(child: Child, frame: Uint8Array, envelope: Envelope): void;
  /** It can answer nothing any more; pending calls are settled afterwards. */
  onGone(child: Child, reason: string): void;
  /** A list came and was compared with its pins. */
  onListed(child: Child, kind: ListKind, list: JudgedList): void;
  record(event: RelayEvent): void;
  onFault(fault: UpstreamFault): void;
  onNotice(notice: RelayNotice): void;
}

/** Takes over a connection: its transport is started, its end recorded. */
export function adoptChild(connection: UpstreamConnection, terms: ServerTerms, context: ChildContext): Child {
  const server = terms.name;
  const { evidence } = connection;
  let goneReason = "CHILD_EXITED";
  const reported = new Set<string>();
  const told = createThrottle();
  const onNotice: ChildContext["onNotice"] = (notice) => {
    const { count, speak } = told(notice.code);
    if (speak) context.onNotice({ ...notice, count });
  };
  const peer = createPeer({
    server,
    scheduler: context.scheduler,
    onNotice,
    onFault: (fault) => {
      const { count, speak } = told(fault.code);
      if (speak) context.onFault({ ...fault, count });
    },
    connection,
    onBadLine: terms.onBadLine,
    onRequest: (frame, envelope) => context.onRequest(child, frame, envelope),
    onNotification: (frame, envelope) => context.onNotification(child, frame, envelope),
    onGone: (reason) => {
      goneReason = reason;
      context.onGone(child, reason);
    },
  });
  const reportDrift: Child["reportDrift"] = (drift) => {
    const key = JSON.stringify(drift);
    if (reported.has(key) || reported.size > maxDrift) return;
    reported.add(key);
    if (reported.size > maxDrift) {
      onNotice({
        code: "DRIFT_WITHOUT_END",
        server,
        message: `more than ${maxDrift} differences; the rest is not recorded`,
      });
      return;
    }
    context.record({ type: "drift", server, observed: context.observe, ...drift });
  };
  const recordExit = async (): Promise<void> => {
    await peer.finished;
    const exit = await exitWithin(connection.exited, context.scheduler);
    const stderrBytes = connection.stderrBytes?.();
    const { droppedLines } = peer;
    context.record({ type: "child.exit", server, evidence, reason: goneReason, exit, stderrBytes, droppedLines });
  };
  const listing = (kind: ListKind): Listing =>
    createListing(async () => {
      const list = await fetchJudged(peer, kind, terms, context);
      reportList(kind, list, server, reportDrift, onNotice);
      context.onListed(child, kind, list);
      return list;
    });
  const child: Child = {
    server,
    peer,
    evidence,
    listings: {
      tools: listing("tools"),
      prompts: listing("prompts"),
      resources: listing("resources"),
      resourceTemplates: listing("resourceTemplates"),
    },
    requests: new Map(),
    progressTokens: new Map(),
    reportDrift,
    ended: recordExit(),
  };
  return child;
}

async function fetchJudged(
  peer: Peer,
  kind: ListKind,
  { name, waits, tools }: ServerTerms,
  { limits, scheduler }: ChildContext,
): Promise<JudgedList> {
  const rules = listKinds[kind];
  const { maxListPages: maxPages, maxListBytes: maxBytes } = limits;
  const bounds = { listMs: waits.listMs, maxPages, maxBytes, now: () => scheduler.now() };
  return judgeList(await fetchList(peer, name, rules, bounds), rules.nameMember, rules.pinning?.pinned(tools));
}

function reportList(
  kind: ListKind,
  list: JudgedList,
  server: string,
  reportDrift: Child["reportDrift"],
  onNotice: ChildContext["onNotice"],
): void {
  const drift = listKinds[kind].pinning?.drift;
  if (drift !== undefined) for (const change of list.changes) reportDrift({ kind: drift, ...change });
  const notice = (code: string, message: string): void => onNotice({ code, server, message });
  if (list.nameless > 0) notice("ELEMENT_WITHOUT_NAME", `${list.nameless} of ${kind} have no name and are left out`);
  for (const name of list.repeated) {
    notice("NAME_REPEATED", visibleText(`${kind}: ${JSON.stringify(name)} is listed twice`));
  }
}

/** The exit status, or an empty one when the host cannot tell it in time. */
function exitWithin(exited: Promise<ExitReport>, scheduler: Scheduler): Promise<ExitReport> {
  return new Promise((resolve) => {
    const timer = scheduler.after(exitReportMs, () => resolve({ code: null, signal: null }));
    void exited.then((exit) => {
      timer.cancel();
      resolve(exit);
    });
  });
}
