import { type Envelope, readMember, readString, type Span, spanType, splitArray } from "@berth/jsonrpc-framing";
import { encodeText, notificationFrame } from "../translate.js";
import type { Offers } from "./discovery.js";

/** Resources that one client is subscribed to. */
const maxSubscriptions = 1_024;
/** Times that a stream is asked for: a server that ends each one at once must not be asked for ever. */
const maxListens = 256;

/** Why a subscription is not had; undefined: it is. */
export type SubscribeFault = string | undefined;

/**
 * What a client of an older revision is told without asking, from a server that tells only who listens (MCP 2026-07-28,
 * § subscriptions/listen): one stream for all, asked for anew when the subscriptions change.
 */
export interface Listening {
  /** Begins, when there is something that the server offers to tell. */
  open(): void;
  subscribe(uri: string, settle: (fault: SubscribeFault) => void): void;
  unsubscribe(uri: string): void;
  /** An answer to one of its requests; false when it is another's. */
  answered(id: string): boolean;
  acknowledged(frame: Uint8Array, envelope: Envelope): void;
  /** The server ends the stream; false when it is none of these. */
  cancelled(id: string): boolean;
}

export interface ListeningOptions {
  readonly offers: Offers;
  /** Members of `_meta`. */
  meta(): string;
  nextId(): string;
  send(frame: Uint8Array): void;
}

interface Waiting {
  readonly uri: string;
  settle(fault: SubscribeFault): void;
}

interface Stream {
  readonly id: string;
  readonly waiting: readonly Waiting[];
}

/** Nothing is asked before `open` or `subscribe`. */
export function createListening({ offers, meta, nextId, send }: ListeningOptions): Listening {
  const wanted = new Set<string>();
  let queued: Waiting[] = [];
  let active: Stream | undefined;
  /** Asked for, not acknowledged. The active one stays until then, so that nothing is missed between the two. */
  let coming: Stream | undefined;
  let isStale = false;
  let listens = 0;

  const ask = (): void => {
    if (coming !== undefined) {
      isStale = true;
      return;
    }
    isStale = false;
    const waiting = queued;
    queued = [];
    listens += 1;
    if (listens > maxListens) {
      for (const { uri } of waiting) wanted.delete(uri);
      settleAll(waiting, `more than ${maxListens} changes of subscriptions`);
      return;
    }
    coming = { id: nextId(), waiting };
    send(listenFrame(coming.id, offers, wanted, meta()));
  };
  const cancel = (stream: Stream): void => send(cancelFrame(stream.id));
  const lost = (stream: Stream): void => {
    settleAll(stream.waiting, "the server did not take the subscription");
    for (const { uri } of stream.waiting) wanted.delete(uri);
    if (stream === coming) {
      coming = undefined;
      if (isStale) ask();
    } else {
      active = undefined;
      ask();
    }
  };
  const ended = (id: string): boolean => {
    const stream = active?.id === id ? active : coming?.id === id ? coming : undefined;
    if (stream !== undefined) lost(stream);
    return stream !== undefined;
  };

  return {
    open() {
      const { toolsListChanged, promptsListChanged, resourcesListChanged } = offers;
      if (toolsListChanged || promptsListChanged || resourcesListChanged) ask();
    },
    subscribe(uri, settle) {
      if (!offers.resourceSubscriptions) return settle("the server has no subscriptions");
      if (wanted.has(uri) && coming === undefined) return settle(undefined);
      if (wanted.size >= maxSubscriptions) return settle(`more than ${maxSubscriptions} subscriptions`);
      wanted.add(uri);
      queued.push({ uri, settle });
      ask();
    },
    unsubscribe(uri) {
      if (wanted.delete(uri)) ask();
    },
    answered: ended,
    cancelled: ended,
    acknowledged(frame, { params }) {
      const of = params && readMember(frame, params, ["_meta", "io.modelcontextprotocol/subscriptionId"]);
      const stream = coming;
      if (stream === undefined || of === undefined || readString(frame, of) !== stream.id) return;
      if (active !== undefined) cancel(active);
      active = { id: stream.id, waiting: [] };
      coming = undefined;
      const honoured = honouredUris(frame, params);
      for (const { uri, settle } of stream.waiting) {
        if (!honoured.has(uri)) wanted.delete(uri);
        settle(honoured.has(uri) ? undefined : "the server did not take the subscription");
      }
      if (isStale) ask();
    },
  };
}

function settleAll(waiting: readonly Waiting[], fault: SubscribeFault): void {
  for (const { settle } of waiting) settle(fault);
}

function listenFrame(id: string, offers: Offers, uris: ReadonlySet<string>, meta: string): Uint8Array {
  const { resourceSubscriptions, ...lists } = offers;
  const asked = {
    ...Object.fromEntries(Object.entries(lists).filter(([, offered]) => offered)),
    ...(uris.size > 0 ? { resourceSubscriptions: [...uris] } : {}),
  };
  const params = `{"notifications":${JSON.stringify(asked)},"_meta":{${meta}}}`;
  return encodeText(`{"jsonrpc":"2.0","id":"${id}","method":"subscriptions/listen","params":${params}}`);
}

/** Takes a request of the relay's own back. */
export function cancelFrame(id: string): Uint8Array {
  return notificationFrame("notifications/cancelled", `{"requestId":${JSON.stringify(id)}}`);
}

function honouredUris(frame: Uint8Array, params: Span | undefined): ReadonlySet<string> {
  const list = params && readMember(frame, params, ["notifications", "resourceSubscriptions"]);
  if (list === undefined || spanType(frame, list) !== "array") return new Set();
  return new Set(splitArray(frame, list).map((span) => readString(frame, span) ?? ""));
}
