import type { OpenUpstream, UpstreamConnection } from "../connection.js";
import { readJsonNode } from "../json-node.js";
import type { UpstreamStatus } from "../relay-options.js";
import type { ServerTerms } from "../relay-terms.js";
import { type RelayFault, upstreamGone } from "../wire-errors.js";
import { bringUpChild, type SettlingContext } from "./bring-up.js";
import type { Child, ChildContext, LiveChild } from "./child.js";
import { createRunningChildren } from "./running-children.js";
import { createSharedStart } from "./shared-start.js";

/** One server of a session: its child is started on first use, and anew after it was lost. */
export interface Upstream {
  readonly terms: ServerTerms;
  /** The child, when it can be called now. */
  readonly live: LiveChild | undefined;
  /** The child, started if need be; calls share one start. Rejects with a `RelayFault`. */
  start(): Promise<LiveChild>;
  /** Whether it has a capability: as its child said, else as was pinned; undefined when nothing is known. */
  has(capability: string): boolean | undefined;
  status(): UpstreamStatus;
  /** Stops and starts the reading of its children, also of those that come later. */
  pause(paused: boolean): void;
  /** Ends the child in stages and settles when it is gone; later starts are refused. */
  close(): Promise<void>;
}

/** What an upstream needs from its session. */
export interface UpstreamContext extends ChildContext, SettlingContext {
  readonly openUpstream: OpenUpstream;
  /** It has introduced itself and no call was sent yet. */
  onReady(child: LiveChild): void;
}

/** Nothing is started before `start`. States: idle, starting, ready, gone, and from gone again to starting; closed ends it. */
export function createUpstream(terms: ServerTerms, context: UpstreamContext): Upstream {
  const server = terms.name;
  let live: LiveChild | undefined;
  let known = pinnedCapabilities(terms);
  let lastReason: string | undefined;
  let starts = 0;
  let closing: Promise<void> | undefined;
  const running = createRunningChildren(terms, {
    ...context,
    onGone: (gone, reason) => {
      lastReason = reason;
      if (live?.peer === gone.peer) live = undefined;
      context.onGone(gone, reason);
    },
  });

  const onReady = (ready: LiveChild): void => {
    known = ready.introduction.capabilities;
    live = ready;
    context.onReady(ready);
  };
  const onFailed = (fault: RelayFault): void => {
    lastReason = fault.parts.reason;
  };
  const bringUp = (signal: AbortSignal): Promise<LiveChild> => {
    starts += 1;
    const adopt = (connection: UpstreamConnection): Child => running.adopt(connection);
    return bringUpChild({ terms, context, signal, adopt, onReady, onFailed });
  };
  const starting = createSharedStart(bringUp, terms, context.scheduler);
  const endAll = async (): Promise<void> => {
    const fault = upstreamGone(server, "SESSION_CLOSED");
    await starting.giveUp(fault);
    await running.endAll(fault);
  };

  return {
    terms,
    start() {
      if (live !== undefined) return Promise.resolve(live);
      return closing === undefined ? starting.run() : Promise.reject(upstreamGone(server, "SESSION_CLOSED"));
    },
    close: () => (closing ??= endAll()),
    pause: (paused) => running.pause(paused),
    has: (capability) => known?.has(capability),
    get live() {
      return live;
    },
    status: () => ({
      server,
      state: live !== undefined ? "ready" : starting.active ? "starting" : starts === 0 ? "idle" : "gone",
      evidence: live?.evidence,
      lastReason,
      starts,
      pendingCalls: live?.peer.pendingRequests ?? 0,
    }),
  };
}

function pinnedCapabilities({ pinnedInitialize }: ServerTerms): ReadonlySet<string> | undefined {
  if (pinnedInitialize?.capabilities === undefined) return undefined;
  const node = readJsonNode(pinnedInitialize.capabilities);
  return node.kind === "object" ? new Set(node.members.keys()) : undefined;
}
