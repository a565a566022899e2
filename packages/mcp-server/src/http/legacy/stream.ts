import { type EventPlace, messageEvent, primingEvent, retryEvent, writeEventId } from "../events.js";
import type { Exchange } from "../exchange.js";
import { badRequest } from "../refusals.js";
import type { EventStore, StreamEvent } from "./event-store.js";
import type { SessionBounds } from "./limits.js";
import { Outlet, type OutletWatch } from "./outlet.js";

/** What all streams of a server share. */
export interface StreamSetting extends OutletWatch {
  readonly bounds: SessionBounds;
  readonly store: EventStore | undefined;
  report(error: unknown): void;
}

/** The session that a stream belongs to, as far as streams care. */
export interface StreamOwner {
  readonly id: string;
  readonly isEnded: boolean;
  /** Whether its client knows events without a message (2025-11-25 and later). */
  readonly knowsPriming: boolean;
}

/** `droppable`: may be left out. `needed`: not, but may wait for the client to come back. `answer`: the last one. */
export type MessageKind = "droppable" | "needed" | "answer";

/**
 * One stream of a session over all the responses that carry it, one at a time. With an event store each message is kept as it is sent, or instead of it
 * while no response is open.
 */
export class SessionStream {
  readonly number: number;
  readonly #owner: StreamOwner;
  readonly #setting: StreamSetting;
  readonly #onOpen: ((isOpen: boolean) => void) | undefined;
  #outlet: Outlet | undefined;
  #position = 0;
  #needs = 0;
  #resuming: Exchange | undefined;
  #isOver = false;

  /** `onOpen` is told when a response begins and ends to carry it. */
  constructor(owner: StreamOwner, setting: StreamSetting, number: number, onOpen?: (isOpen: boolean) => void) {
    this.#owner = owner;
    this.#setting = setting;
    this.number = number;
    this.#onOpen = onOpen;
  }

  /** Whether a response carries it now. */
  get isOpen(): boolean {
    return this.#outlet !== undefined;
  }

  /** Carries it on this response from here on; what carried it before ends. */
  open(exchange: Exchange): void {
    this.#resuming = undefined;
    this.#attach(exchange, new Outlet(exchange, this.#setting));
    if (this.#setting.store === undefined || !this.#owner.knowsPriming) return;
    this.#outlet?.write(primingEvent(this.#nextId(), this.#setting.bounds.retryMs));
  }

  /** False when the message is neither sent nor kept. */
  send(message: string, kind: MessageKind): boolean {
    const outlet = this.#outlet;
    const { store, bounds } = this.#setting;
    const queued = outlet?.queuedBytes ?? 0;
    if (kind === "droppable" && queued + message.length > bounds.maxStreamBytes) return true;
    if (outlet === undefined && store === undefined) return false;
    const isStuck = kind === "needed" && queued > bounds.maxStreamBytes;
    if (isStuck) this.#detach();
    if (isStuck && store === undefined) return false;
    const id = store === undefined ? undefined : this.#keep(store, message, kind);
    if (!isStuck) outlet?.write(messageEvent(id, message));
    return true;
  }

  /** Ends the response and not the stream: the client comes back for the rest. */
  release(): void {
    this.#outlet?.write(retryEvent(this.#setting.bounds.retryMs));
    this.#detach();
  }

  /** Nothing follows. */
  end(): void {
    this.#isOver = true;
    this.#detach();
  }

  /**
   * Sends again what came after this position, then carries the stream on this response.
   * @throws {HttpRefusal} 400 when something that must not be missed is no longer there; 404 when the session has ended meanwhile; 409 when
   * another response has taken over meanwhile.
   */
  async resume(store: EventStore, exchange: Exchange, position: number): Promise<void> {
    if (position > this.#position) throw badRequest(400, "there is no such event");
    // Whatever carries it is dead to the client, which has come back: what it did not get is sent again.
    const dead = this.#outlet;
    this.#detach();
    if (dead !== undefined && dead.queuedBytes > 0) dead.cut();
    this.#resuming = exchange;
    const isWanted = (): boolean => this.#resuming === exchange && !this.#owner.isEnded;
    let outlet: Outlet | undefined;
    try {
      for (let at = position, isFirst = true; isFirst || at < this.#position; isFirst = false) {
        const [last, needs] = [this.#position, this.#needs];
        const events = await store.readAfter(this.#owner.id, this.number, at);
        this.#checkResumed(exchange, isWhole(at, events, needs));
        outlet ??= new Outlet(exchange, this.#setting);
        await outlet.writeAll(events, this.#setting.bounds.maxStreamBytes, isWanted);
        at = Math.max(last, events.at(-1)?.position ?? 0);
      }
      if (outlet !== undefined && isWanted()) this.#attach(exchange, outlet);
      else outlet?.cut();
    } catch (error) {
      if (outlet === undefined) throw error;
      outlet.end(); // the client comes back, and is told then
    } finally {
      if (this.#resuming === exchange) this.#resuming = undefined;
    }
    if (this.#isOver) this.#detach();
  }

  #checkResumed(exchange: Exchange, isWhole: boolean): void {
    if (this.#owner.isEnded) throw badRequest(404, "the session has ended");
    if (this.#resuming !== exchange) throw badRequest(409, "another request has taken over the stream");
    if (!isWhole) throw badRequest(400, "what followed is no longer kept");
  }

  #nextId(): string {
    this.#position += 1;
    return writeEventId({ stream: this.number, position: this.#position });
  }

  #keep(store: EventStore, message: string, kind: MessageKind): string {
    const id = this.#nextId();
    const droppable = kind === "droppable";
    const place = { stream: this.number, position: this.#position, needs: this.#needs };
    const event: StreamEvent = { ...place, droppable, message };
    if (!droppable) this.#needs = this.#position;
    const { report } = this.#setting;
    try {
      const kept = store.append(this.#owner.id, event);
      if (kept instanceof Promise) kept.catch(report);
    } catch (error) {
      report(error);
    }
    return id;
  }

  #attach(exchange: Exchange, outlet: Outlet): void {
    this.#detach();
    this.#outlet = outlet;
    this.#onOpen?.(true);
    exchange.onGone(() => {
      if (this.#outlet === outlet) this.#detach();
    });
  }

  #detach(): void {
    const outlet = this.#outlet;
    if (outlet === undefined) return;
    this.#outlet = undefined;
    outlet.end();
    this.#onOpen?.(false);
  }
}

/**
 * Sends the rest of a stream that is over: of it only the store knows.
 * @param cut Aborted when the rest is no longer wanted; also after the end, when that means nothing.
 * @throws {HttpRefusal} 400 when it is not there, or not all of it; 404 when the session has ended meanwhile.
 */
export async function replay(
  store: EventStore,
  exchange: Exchange,
  place: EventPlace,
  owner: StreamOwner,
  setting: StreamSetting,
  cut: AbortSignal,
): Promise<void> {
  const events = await store.readAfter(owner.id, place.stream, place.position);
  if (owner.isEnded) throw badRequest(404, "the session has ended");
  if (events.length === 0 || !isWhole(place.position, events, 0))
    throw badRequest(400, "there is no such event, or what followed is no longer kept");
  const outlet = new Outlet(exchange, setting);
  cut.addEventListener("abort", () => outlet.cut(), { once: true });
  await outlet.writeAll(events, setting.bounds.maxStreamBytes, () => !owner.isEnded && !cut.aborted);
  outlet.end();
  await outlet.drained(); // until then it is being sent
}

/** Whether a reader at this position misses nothing but what may be missed. */
function isWhole(position: number, events: readonly StreamEvent[], needed: number): boolean {
  let at = position;
  for (const event of events) {
    if (event.needs > at) return false;
    at = event.position;
  }
  return needed <= at;
}
