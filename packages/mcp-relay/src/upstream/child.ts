import type { Envelope, Scheduler } from "@berth/jsonrpc-framing";
import type { UpstreamConnection, UpstreamEvidence } from "../connection.js";
import type { ListKind } from "../list-kinds.js";
import type { RelayEvent } from "../relay-event.js";
import type { RelayNotice, UpstreamFault } from "../relay-options.js";
import type { ServerTerms } from "../relay-terms.js";
import { type ChildListings, createChildListings } from "./child-listings.js";
import { createDriftReport, type ReportDrift } from "./drift-report.js";
import { exitReport } from "./exit-fault.js";
import type { Introduction } from "./handshake.js";
import type { JudgedList } from "./judge-list.js";
import { createPeer, type Peer } from "./peer.js";
import { createThrottle } from "./throttle.js";

/** One child, from the moment it runs. */
export interface Child {
  readonly server: string;
  readonly peer: Peer;
  readonly evidence: UpstreamEvidence;
  readonly listings: ChildListings;
  /** Requests of this child that the client has not answered: the child's id to the client's. Kept by the session. */
  readonly requests: Map<string | number, number>;
  /** Relayed calls by the progress token that the client gave them. Kept by the session. */
  readonly progressTokens: Map<string | number, number>;
  readonly reportDrift: ReportDrift;
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
  const { name: server, onBadLine } = terms;
  const { evidence } = connection;
  const { scheduler, observe, limits } = context;
  const { onFault, onNotice } = throttled(context);
  let goneReason = "CHILD_EXITED";
  const peer = createPeer({
    server,
    scheduler,
    onNotice,
    onFault,
    connection,
    onBadLine,
    onRequest: (frame, envelope) => context.onRequest(child, frame, envelope),
    onNotification: (frame, envelope) => context.onNotification(child, frame, envelope),
    onGone: (reason) => {
      goneReason = reason;
      context.onGone(child, reason);
    },
  });
  const recordExit = async (): Promise<void> => {
    await peer.finished;
    const exit = await exitReport(connection.exited, scheduler);
    const stderrBytes = connection.stderrBytes?.();
    const { droppedLines } = peer;
    context.record({ type: "child.exit", server, evidence, reason: goneReason, exit, stderrBytes, droppedLines });
  };
  const record = (event: RelayEvent): void => context.record(event);
  const reportDrift = createDriftReport({ server, observe, record, onNotice });
  const onListed = (kind: ListKind, list: JudgedList): void => context.onListed(child, kind, list);
  const child: Child = {
    server,
    peer,
    evidence,
    listings: createChildListings({ peer, terms, limits, scheduler, reportDrift, onNotice, onListed }),
    requests: new Map(),
    progressTokens: new Map(),
    reportDrift,
    ended: recordExit(),
  };
  return child;
}

/** Of what one child does wrong, the first times and then ever fewer are told. */
function throttled(context: ChildContext): {
  onFault(fault: Omit<UpstreamFault, "count">): void;
  onNotice(notice: RelayNotice): void;
} {
  const told = createThrottle();
  return {
    onFault: (fault) => {
      const { count, speak } = told(fault.code);
      if (speak) context.onFault({ ...fault, count });
    },
    onNotice: (notice) => {
      const { count, speak } = told(notice.code);
      if (speak) context.onNotice({ ...notice, count });
    },
  };
}
