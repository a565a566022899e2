import {
  type Envelope,
  readMember,
  readString,
  type Scheduler,
  type SchedulerTimer,
  type Span,
  spanType,
  splitArray,
} from "@berth/jsonrpc-framing";
import { encodeText, notificationFrame } from "../translate.js";
import type { Offers } from "./discovery.js";
import { createWantedResources, maxSubscriptions, type SubscribeFault } from "./wanted-resources.js";

/**
 * A stream that the server ends, or refuses, is asked for anew after a second, then after twice as long each time; not again after so many in a row that did
 * not last. A subscription of the client asks at once and begins the count again.
 */
const again = { firstMs: 1_000, mostMs: 60_000, lastingMs: 60_000, maxInARow: 8 } as const;

/**
 * What a client of an older revision is told without asking, from a server that tells only who listens (MCP 2026-07-28,
 * § subscriptions/listen): one stream for all, asked for anew when the subscriptions change.
 */
export interface Listening {
  /** Begins, when there is something that the server offers to tell. */
  open(): void;
  subscribe(uri: string, settle: (fault: SubscribeFault) => void): void;
  unsubscribe(uri: string): void;
  /** The server answers one of its requests, or ends it; any other id is ignored. */
  ended(id: string): void;
  /** @throws {FramingError} `TOO_MANY_ITEMS` */
  acknowledged(frame: Uint8Array, envelope: Envelope): void;
  /** Nothing is asked any more. */
  close(): void;
}

export interface ListeningOptions {
  readonly offers: Offers;
  readonly scheduler: Scheduler;
  /** Members of `_meta`. */
  meta(): string;
  nextId(): string;
  /** Rejects when the server cannot be asked. */
  send(frame: Uint8Array): Promise<void>;
}

interface Waiting {
  readonly uri: string;
  settle(fault: SubscribeFault): void;
}

interface Stream {
  readonly id: string;
  readonly waiting: readonly Waiting[];
  /** What the server said that it tells of. */
  readonly honoured: ReadonlySet<string>;
  readonly since: number;
}

const notTaken = "the server did not take the subscription";
const none: ReadonlySet<string> = new Set();

/** Nothing is asked before `open` or `subscribe`. A machine of two streams, hence its length. */
export function createListening({ offers, scheduler, meta, nextId, send }: ListeningOptions): Listening {
  const { resourceSubscriptions, ...lists } = offers;
  const tellsOfLists = Object.values(lists).includes(true);
  const wanted = createWantedResources();
  let queued: Waiting[] = [];
  let active: Stream | undefined;
  /** Asked for, not acknowledged. The active one stays until then, so that nothing is missed between the two. */
  let coming: Stream | undefined;
  let isStale = false;
  let isClosed = false;
  let shortOnes = 0;
  let timer: SchedulerTimer | undefined;

  const tell = (frame: Uint8Array): void => {
    send(frame).catch(() => undefined); // Who is gone needs no cancelling.
  };
  const endActive = (): void => {
    if (active !== undefined) tell(cancelFrame(active.id));
    active = undefined;
  };
  const forget = (waiting: readonly Waiting[]): void => {
    for (const { uri, settle } of waiting) {
      wanted.delete(uri);
      settle(notTaken);
    }
  };
  const ask = (): void => {
    timer?.cancel();
    timer = undefined;
    if (coming !== undefined) {
      isStale = true;
      return;
    }
    isStale = false;
    const waiting = queued;
    queued = [];
    if (isClosed || (!tellsOfLists && wanted.size === 0)) {
      forget(waiting);
      endActive();
      return;
    }
    const stream = { id: nextId(), waiting, honoured: none, since: scheduler.now() };
    coming = stream;
    send(listenFrame(stream.id, lists, wanted.uris(), meta())).catch(() => lost(stream));
  };
  const askLater = (): void => {
    if (timer !== undefined || shortOnes >= again.maxInARow) return;
    timer = scheduler.after(Math.min(again.firstMs * 2 ** shortOnes, again.mostMs), ask);
    timer.hold(false);
    shortOnes += 1;
  };
  const lost = (stream: Stream): void => {
    if (stream === coming) coming = undefined;
    else if (stream === active) active = undefined;
    else return;
    if (scheduler.now() - stream.since >= again.lastingMs) shortOnes = 0;
    forget(stream.waiting);
    if (coming !== undefined || isClosed) return;
    if (isStale) ask();
    else if (active === undefined) askLater();
  };

  return {
    open() {
      if (tellsOfLists) ask();
    },
    subscribe(uri, settle) {
      if (!resourceSubscriptions) return settle("the server has no subscriptions");
      const isHad = wanted.has(uri) && active?.honoured.has(uri) === true;
      if (isHad && coming === undefined) return settle(undefined);
      if (queued.length >= maxSubscriptions) return settle("too many subscriptions at once");
      const fault = wanted.add(uri);
      if (fault !== undefined) return settle(fault);
      queued.push({ uri, settle });
      shortOnes = 0;
      ask();
    },
    unsubscribe(uri) {
      if (wanted.delete(uri)) ask();
    },
    ended(id) {
      const stream = active?.id === id ? active : coming?.id === id ? coming : undefined;
      if (stream !== undefined) lost(stream);
    },
    acknowledged(frame, { params }) {
      const of = params && readMember(frame, params, ["_meta", "io.modelcontextprotocol/subscriptionId"]);
      const stream = coming;
      if (stream === undefined || of === undefined || readString(frame, of) !== stream.id) return;
      const honoured = new Set(honouredUris(frame, params).filter((uri) => wanted.has(uri)));
      endActive();
      active = { ...stream, waiting: [], honoured };
      coming = undefined;
      forget(stream.waiting.filter(({ uri }) => !honoured.has(uri)));
      for (const { uri, settle } of stream.waiting) if (honoured.has(uri)) settle(undefined);
      if (isStale) ask();
    },
    close() {
      isClosed = true;
      timer?.cancel();
      timer = undefined;
    },
  };
}

function listenFrame(id: string, lists: object, uris: readonly string[], meta: string): Uint8Array {
  const asked = {
    ...Object.fromEntries(Object.entries(lists).filter(([, offered]) => offered)),
    ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
  };
  const params = `{"notifications":${JSON.stringify(asked)},"_meta":{${meta}}}`;
  return encodeText(`{"jsonrpc":"2.0","id":"${id}","method":"subscriptions/listen","params":${params}}`);
}

/** Takes a request of the relay's own back. */
export function cancelFrame(id: string): Uint8Array {
  return notificationFrame("notifications/cancelled", `{"requestId":${JSON.stringify(id)}}`);
}

function honouredUris(frame: Uint8Array, params: Span | undefined): readonly string[] {
  const list = params && readMember(frame, params, ["notifications", "resourceSubscriptions"]);
  if (list === undefined || spanType(frame, list) !== "array") return [];
  return splitArray(frame, list).flatMap((span) => readString(frame, span) ?? []);
}
