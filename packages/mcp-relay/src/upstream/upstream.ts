import type { OpenUpstream, UpstreamConnection } from "../connection.js";
import { definitionDigest } from "../drift.js";
import { readJsonNode } from "../json-node.js";
import type { UpstreamStatus } from "../relay-options.js";
import type { ServerTerms } from "../relay-terms.js";
import { isUpstreamRefusal, RelayFault, spawnRefused, upstreamGone } from "../wire-errors.js";
import { adoptChild, type Child, type ChildContext, type LiveChild } from "./child.js";
import { introduce } from "./handshake.js";

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
export interface UpstreamContext extends ChildContext {
  readonly openUpstream: OpenUpstream;
  /** The `initialize` frame for a child, made from the client's. */
  hello(id: number): Uint8Array;
  /** It has introduced itself and no call was sent yet. */
  onReady(child: LiveChild): void;
}

/** Nothing is started before `start`. */
export function createUpstream(terms: ServerTerms, context: UpstreamContext): Upstream {
  const server = terms.name;
  let live: LiveChild | undefined;
  let starting: { readonly done: Promise<LiveChild>; readonly abort: AbortController } | undefined;
  let known = pinnedCapabilities(terms);
  let lastReason: string | undefined;
  let starts = 0;
  let closing: Promise<void> | undefined;
  const running = new Set<Child>();

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

  const bringUp = async (signal: AbortSignal): Promise<LiveChild> => {
    let child: Child | undefined;
    try {
      starts += 1;
      const connection = await opened(context.openUpstream, server, signal);
      child = adopt(connection);
      const ready = await orAbort(settleIn(child, connection), signal);
      if (ready.peer.gone) throw upstreamGone(server, "CHILD_EXITED");
      live = ready;
      context.onReady(ready);
      return ready;
    } catch (error) {
      const fault = faultOf(error, server);
      lastReason = fault.parts.reason;
      child?.peer.end(fault);
      throw fault;
    }
  };

  const adopt = (connection: UpstreamConnection): Child => {
    const child = adoptChild(connection, terms, {
      ...context,
      onGone: (gone, reason) => {
        lastReason = reason;
        if (live?.peer === gone.peer) live = undefined;
        context.onGone(gone, reason);
      },
    });
    running.add(child);
    void child.ended.then(() => running.delete(child));
    return child;
  };

  /** Handshake, the second look at what runs, and the comparison with the pins: all before the first call. */
  const settleIn = async (child: Child, connection: UpstreamConnection): Promise<LiveChild> => {
    const introduction = await introduce(child.peer, server, context.hello, terms.waits.startMs);
    known = introduction.capabilities;
    await connection.recheck?.();
    compareInstructions(child, terms, introduction.instructions);
    if (terms.tools.pinned !== undefined && introduction.capabilities.has("tools")) {
      // A list that fails here fails the calls that need it, each with its reason, not the child.
      await child.listings.tools.ensure().catch(() => undefined);
    }
    return { ...child, introduction };
  };

  const close = (): Promise<void> => {
    closing ??= (async () => {
      const fault = upstreamGone(server, "SESSION_CLOSED");
      starting?.abort.abort(fault);
      await starting?.done.catch(() => undefined);
      for (const child of running) child.peer.end(fault);
      await Promise.all([...running].map((child) => child.ended));
    })();
    return closing;
  };

  return {
    terms,
    start,
    close,
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

function compareInstructions(child: Child, { pinnedInitialize }: ServerTerms, live: string | undefined): void {
  if (pinnedInitialize === undefined || pinnedInitialize.instructions === live) return;
  const { instructions: pinned } = pinnedInitialize;
  child.reportDrift({
    kind: "instructions",
    name: "instructions",
    change: pinned === undefined ? "new" : live === undefined ? "withdrawn" : "changed",
    expected: pinned === undefined ? undefined : definitionDigest(pinned),
    measured: live === undefined ? undefined : definitionDigest(live),
  });
}

function faultOf(error: unknown, server: string): RelayFault {
  if (error instanceof RelayFault) return error;
  if (isUpstreamRefusal(error)) return spawnRefused(server, error);
  return upstreamGone(server, "START_FAILED", error instanceof Error ? error.message : undefined);
}

/** A connection that comes after its start was given up is closed, whenever it comes. */
async function opened(open: OpenUpstream, server: string, signal: AbortSignal): Promise<UpstreamConnection> {
  const opening = Promise.resolve(open(server, { signal }));
  try {
    return await orAbort(opening, signal);
  } catch (error) {
    if (signal.aborted) opening.then((late) => late.close()).catch(() => undefined); // Nobody waits for it any more.
    throw error;
  }
}

async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
