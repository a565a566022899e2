import { type Message, type RequestId, type RequestMessage, wireErrors } from "@berth/jsonrpc-framing";
import type { LegacyRevision } from "../../revisions.js";
import { internalError, wireError } from "../../server/answer.js";
import type { Connection } from "../../server/connection.js";
import type { McpServer } from "../../server/create-server.js";
import { type EventPlace, readEventId, textOf } from "../events.js";
import type { Exchange } from "../exchange.js";
import { badRequest, errorBody } from "../refusals.js";
import { answerWhole, Call, type CallOwner } from "./call.js";
import type { DueQueue } from "./due-queue.js";
import { GeneralStream } from "./general-stream.js";
import { type ReplayCount, Replays } from "./replays.js";
import { replay, SessionStream, type StreamOwner, type StreamSetting } from "./stream.js";

/** What all sessions of a server share. */
export interface SessionSetting<P> extends StreamSetting {
  readonly server: McpServer<P>;
  /** What `initialize` may settle on. */
  readonly revisions: readonly LegacyRevision[];
  readonly starting: DueQueue<Call>;
  readonly replays: ReplayCount;
  /** Also of what is whole at once. */
  readonly answersAsStream: boolean;
  /** A session has become busy, or idle. */
  onUse(session: Session<P>): void;
}

/** Of the general stream; calls have theirs from 1. */
const generalStream = 0;

/** One client between `initialize` and the end of its session: its requests under way, its streams, its connection to the server. */
export class Session<P> implements StreamOwner, CallOwner {
  readonly id: string;
  readonly principalId: string;
  readonly connection: Connection;
  readonly starting: DueQueue<Call>;
  readonly #setting: SessionSetting<P>;
  // Made when they are first needed: most of ten thousand open sessions have none of them.
  #calls: Map<RequestId, Call> | undefined;
  #streams: Map<number, SessionStream> | undefined;
  #general: GeneralStream | undefined;
  #replays: Replays | undefined;
  #lastStream = generalStream;
  #uses = 0;
  #isEnded = false;

  constructor(id: string, principalId: string, setting: SessionSetting<P>) {
    this.id = id;
    this.principalId = principalId;
    this.starting = setting.starting;
    this.#setting = setting;
    this.connection = setting.server.openConnection({
      revisions: setting.revisions,
      send: (message, { droppable, request }) => this.#send(textOf(message), droppable, request),
      releaseStream: (request) => this.#calls?.get(request)?.release(),
    });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Requests under way and open streams keep it from being idle. */
  get isBusy(): boolean {
    return this.#uses > 0;
  }

  /** Requests that have no answer yet. */
  get openCalls(): number {
    return this.#calls?.size ?? 0;
  }

  get knowsPriming(): boolean {
    return (this.connection.revision ?? "") >= "2025-11-25";
  }

  get canRelease(): boolean {
    return this.#setting.store !== undefined && this.knowsPriming;
  }

  get answersAsStream(): boolean {
    return this.#setting.answersAsStream;
  }

  newStream(): SessionStream {
    this.#lastStream += 1;
    const stream = new SessionStream(this, this.#setting, this.#lastStream);
    this.#streams ??= new Map();
    this.#streams.set(stream.number, stream);
    return stream;
  }

  endStream(stream: SessionStream): void {
    this.#streams?.delete(stream.number);
    stream.end();
  }

  /** Answers `initialize`, with the session's id. False when there is no session then: it was refused, or nobody is there to use it. */
  async initialize(exchange: Exchange, request: RequestMessage, principal: P): Promise<boolean> {
    this.#use(1);
    try {
      const { server } = this.#setting;
      const headers = (name: string): string | undefined => exchange.header(name);
      const answer = await server.handleMessage(request, { principal, connection: this.connection, headers });
      const isOpen = this.connection.revision !== undefined && !exchange.isGone && !this.#isEnded;
      const error = wireError(wireErrors.internal, "the server is closing");
      const body = this.#isEnded ? errorBody(error, request.id) : answer?.body;
      answerWhole(exchange, body, this.answersAsStream, isOpen ? { "mcp-session-id": this.id } : undefined);
      return isOpen;
    } finally {
      this.#use(-1);
    }
  }

  /** Takes a notification, or the client's answer to a question of this session. */
  take(message: Message, principal: P): void {
    const { server, report } = this.#setting;
    server.handleMessage(message, { principal, connection: this.connection }).catch(report);
    this.#setting.onUse(this);
  }

  /** Serves one request, to its end: the client's going away does not stop it. */
  async serve(exchange: Exchange, request: RequestMessage, principal: P): Promise<void> {
    const call = new Call(this, exchange);
    this.#calls ??= new Map();
    const calls = this.#calls;
    // A second one with an id that is under way is refused by the server, and sends nothing.
    if (!calls.has(request.id)) calls.set(request.id, call);
    this.#use(1);
    try {
      const headers = (name: string): string | undefined => exchange.header(name);
      const { server } = this.#setting;
      const answer = await server.handleMessage(request, { principal, connection: this.connection, headers });
      call.finish(answer?.body);
    } catch (error) {
      call.finish(errorBody(internalError, request.id));
      this.#setting.report(error);
    } finally {
      if (calls.get(request.id) === call) calls.delete(request.id);
      this.#use(-1);
    }
  }

  /** The stream of what belongs to no request, or the rest of any stream after the event that the client names. */
  async listen(exchange: Exchange, lastEventId: string | undefined): Promise<void> {
    const { store } = this.#setting;
    if (store === undefined || lastEventId === undefined) {
      this.#generalStream().open(exchange);
      return;
    }
    const place = readEventId(lastEventId);
    if (place === undefined || place.stream > this.#lastStream) throw badRequest(400, "there is no such event");
    this.#use(1);
    try {
      await this.#resume(exchange, place);
    } finally {
      this.#use(-1);
    }
  }

  /** Answers all requests with this text, and releases everything. */
  async end(reason: string): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const error = wireError(wireErrors.internal, reason);
    for (const [id, call] of this.#calls ?? []) call.finish(errorBody(error, id));
    this.#general?.end();
    const { store, report } = this.#setting;
    try {
      await Promise.all([this.connection.close(), store?.forget(this.id)]);
    } catch (thrown) {
      report(thrown);
    }
  }

  async #resume(exchange: Exchange, place: EventPlace): Promise<void> {
    const { store } = this.#setting;
    if (store === undefined) return;
    const live = place.stream === generalStream ? this.#generalStream() : this.#streams?.get(place.stream);
    this.#replays ??= new Replays(this.#setting.bounds, this.#setting.replays);
    await this.#replays.during(place.stream, exchange, (cut) =>
      live === undefined
        ? replay(store, exchange, place, this, this.#setting, cut)
        : live.resume(store, exchange, place.position),
    );
  }

  #send(message: string, droppable: boolean, request: RequestId | undefined): void {
    if (this.#isEnded) return;
    if (request === undefined) this.#generalStream().send(message, droppable);
    else this.#calls?.get(request)?.send(message, droppable);
  }

  #generalStream(): GeneralStream {
    this.#general ??= new GeneralStream(
      new SessionStream(this, this.#setting, generalStream, (isOpen) => this.#use(isOpen ? 1 : -1)),
      this.#setting.bounds,
    );
    return this.#general;
  }

  #use(change: 1 | -1): void {
    this.#uses += change;
    this.#setting.onUse(this);
  }
}
