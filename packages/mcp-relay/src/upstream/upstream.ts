import type { OpenUpstream, UpstreamConnection } from "../connection.js";
import { readJsonNode } from "../json-node.js";
import type { UpstreamStatus } from "../relay-options.js";
import type { ServerTerms } from "../relay-terms.js";
import { upstreamGone } from "../wire-errors.js";
import { openConnection, orAbort, type SettlingContext, settleIn, startFault } from "./bring-up.js";
import { adoptChild, type Child, type ChildContext, type LiveChild } from "./child.js";

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
  let starting: { readonly done: Promise<LiveChild>; readonly abort: AbortController } | undefined;
  let known = pinnedCapabilities(terms);
  let lastReason: string | undefined;
  let starts = 0;
  let closing: Promise<void> | undefined;
  const running = new Set<Child>();

  const adopt = (connection: UpstreamConnection): Child => {
    const onGone: ChildContext["onGone"] = (gone, reason) => {
      lastReason = reason;
      if (live?.peer === gone.peer) live = undefined;
      context.onGone(gone, reason);
    };
    const child = adoptChild(connection, terms, { ...context, onGone });
    running.add(child);
    void child.ended.then(() => running.delete(child));
    return child;
  };

  const bringUp = async (signal: AbortSignal): Promise<LiveChild> => {
    let child: Child | undefined;
    try {
      starts += 1;
      const connection = await openConnection(context.openUpstream, server, signal);
      child = adopt(connection);
      const ready = await orAbort(settleIn(child, connection, terms, context), signal);
      if (ready.peer.gone) throw upstreamGone(server, "CHILD_EXITED");
      known = ready.introduction.capabilities;
      live = ready;
      context.onReady(ready);
      return ready;
    } catch (error) {
      const fault = startFault(error, server);
      lastReason = fault.parts.reason;
      child?.peer.end(fault);
      throw fault;
    }
  };

  const start = (): Promise<LiveChild> => {
    if (live !== undefined) return Promise.resolve(live);
    if (closing !== undefined) return Promise.reject(upstreamGone(server, "SESSION_CLOSED"));
    if (starting !== undefined) return starting.done;
    const abort = new AbortController();
    const { startMs } = terms.waits;
    const timer = context.scheduler.after(startMs, () => {
      abort.abort(upstreamGone(server, "START_TIMEOUT", `${startMs} ms`));
    });
    const done = bringUp(abort.signal).finally(() => {
      timer.cancel();
      starting = undefined;
    });
    starting = { done, abort };
    return done;
  };

  const endAll = async (): Promise<void> => {
    const fault = upstreamGone(server, "SESSION_CLOSED");
    starting?.abort.abort(fault);
    await starting?.done.catch(() => undefined);
    for (const child of running) child.peer.end(fault);
    await Promise.all([...running].map((child) => child.ended));
  };

  return {
    terms,
    start,
    close: () => (closing ??= endAll()),
    has: (capability) => known?.has(capability),
    get live() {
      return live;
    },
    status: () => ({
      server,
      state: live !== undefined ? "ready" : starting !== undefined ? "starting" : starts === 0 ? "idle" : "gone",
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
