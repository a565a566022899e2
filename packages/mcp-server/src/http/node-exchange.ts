import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type BodyCollector, collectBody } from "./body.js";
import type { EventSink } from "./exchange.js";
import { Gone } from "./gone.js";
import { type Carried, Lane } from "./lane.js";
import { NodeSink } from "./node-sink.js";
import { clientGone } from "./refusals.js";
import { type ServedExchange, type Surroundings, streamHeaders, tooSlow } from "./served-exchange.js";

/** An exchange over Node's own request and response: nothing is made of them that is not needed. */
export class NodeExchange implements ServedExchange, Carried {
  readonly method: string;
  readonly path: string;
  common: Readonly<Record<string, string>> | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #around: Surroundings;
  readonly #gone = new Gone();
  readonly #lane: Lane;
  #isWorking = false;
  #unsent: number | undefined;
  #deadlines: Set<NodeJS.Timeout> | undefined;
  #isAnswered = false;

  constructor(request: IncomingMessage, response: ServerResponse, around: Surroundings, connections: Connections) {
    const { method = "", url = "" } = request;
    const query = url.indexOf("?");
    this.method = method;
    this.path = query < 0 ? url : url.slice(0, query);
    this.#request = request;
    this.#response = response;
    this.#around = around;
    this.#lane = laneOf(request.socket, connections, around);
    this.#lane.open.add(this);
    if (request.socket.destroyed) this.lost();
  }

  /** Calls back when it is the turn of this request; never when its client is gone before. */
  begin(serve: () => void): void {
    if (this.isGone) return;
    this.#lane.enter(() => {
      this.#isWorking = true;
      serve();
    });
  }

  header(name: string): string | undefined {
    // Node keeps the first of several and drops the rest: a second credential would not be seen.
    if (name === "authorization") return this.#request.headersDistinct[name]?.join(", ");
    const { headers, rawHeaders } = this.#request;
    const value = headers[name];
    if (value !== undefined && isSingle(name) && isDoubled(rawHeaders, name)) {
      return name === "host" ? undefined : noValue;
    }
    return Array.isArray(value) ? value.join(", ") : value;
  }

  get isGone(): boolean {
    return this.#gone.isGone;
  }

  onGone(callback: () => void): void {
    this.#gone.onGone(callback);
  }

  /** The connection was closed before all had left. */
  lost(): void {
    this.#lane.open.delete(this);
    // Node does not tell all requests and answers of a connection that it was closed.
    for (const timer of this.#deadlines ?? []) clearTimeout(timer);
    this.#hasLeft();
    this.#stopWorking();
    this.#gone.tell();
  }

  readBody(maxBytes: number): Promise<Uint8Array> {
    const request = this.#request;
    if (request.readableEnded) return Promise.reject(new Error("the body was read before it came to the handler"));
    return new Promise((resolve, reject) => {
      const body: BodyCollector = collectBody(request.headers["content-length"], maxBytes, this.#around);
      const { bodyMs } = this.#around.bounds;
      const finish = (refusal: Error | undefined): void => {
        clearTimeout(timer);
        request.off("data", onData).off("end", onEnd);
        if (refusal === undefined) resolve(body.take());
        else {
          body.release();
          reject(refusal);
        }
      };
      const onData = (chunk: Uint8Array): void => {
        try {
          body.add(chunk);
        } catch (error) {
          finish(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const onEnd = (): void => finish(undefined);
      const timer = setTimeout(() => finish(tooSlow(bodyMs)), bodyMs);
      request.on("data", onData).on("end", onEnd);
      this.#gone.onGone(() => finish(clientGone()));
    });
  }

  answer(status: number, headers: Readonly<Record<string, string>>, body?: string | Uint8Array): void {
    const response = this.#response;
    if (this.#isAnswered || response.destroyed) return;
    const head = flatten(headers, this.common);
    const length = body === undefined ? 0 : byteLength(body);
    if (status !== 204) head.push("content-length", String(length));
    response.writeHead(status, head);
    this.#isAnswered = true; // not before: a header that Node refuses leaves room for another answer
    if (body === undefined || this.method === "HEAD") response.end();
    else response.end(body);
    if (!this.#request.complete) this.#discardRest();
    this.#leave(length);
  }

  openStream(): EventSink {
    this.#isAnswered = true;
    if (!this.#response.destroyed) {
      this.#response.writeHead(200, flatten(streamHeaders, this.common));
      this.#response.flushHeaders();
    }
    return new NodeSink(this.#response, this.#gone, {
      count: (bytes) => this.#count(bytes),
      ended: () => this.#leave(0), // what of it has not left is counted by the sink
      cut: () => void this.#request.socket.destroy(),
    });
  }

  /** All is written. A client that does not read what it was sent must not be waited for without end. */
  #leave(bytes: number): void {
    const response = this.#response;
    if (response.writableLength > 0) {
      this.#unsent = bytes;
      this.#around.leaving += 1;
      this.#count(bytes);
      this.#limit(this.#around.bounds.deliveryMs, (over) => response.once("close", over));
      response.once("close", () => this.#hasLeft());
    }
    this.#release();
    this.#stopWorking();
  }

  #hasLeft(): void {
    if (this.#unsent === undefined) return;
    const bytes = this.#unsent;
    this.#unsent = undefined;
    this.#around.leaving -= 1;
    this.#count(-bytes);
  }

  #count(bytes: number): void {
    this.#around.unsentBytes += bytes;
    this.#lane.count(bytes);
  }

  #stopWorking(): void {
    if (!this.#isWorking) return;
    this.#isWorking = false;
    this.#lane.answered();
  }

  /** The rest of a refused body is read and thrown away, so that the connection can be used again; within the limits of any body. */
  #discardRest(): void {
    const request = this.#request;
    const { maxBodyBytes, bodyMs } = this.#around.bounds;
    let left = discarded * maxBodyBytes;
    request.on("data", (chunk: Uint8Array) => {
      left -= chunk.length;
      if (left < 0) request.socket.destroy();
    });
    this.#limit(bodyMs, (over) => request.once("end", over));
    request.resume();
  }

  /** Closes the connection unless something is over in time. */
  #limit(milliseconds: number, watch: (over: () => void) => void): void {
    const timer = setTimeout(() => this.#request.socket.destroy(), milliseconds);
    this.#deadlines ??= new Set();
    this.#deadlines.add(timer);
    watch(() => {
      clearTimeout(timer);
      this.#deadlines?.delete(timer);
      this.#release();
    });
  }

  #release(): void {
    if (this.#deadlines === undefined || this.#deadlines.size === 0) this.#lane.open.delete(this);
  }
}

/** How many times the limit of a body is thrown away of one that was refused, before its connection is closed. */
const discarded = 4;

function flatten(...parts: readonly (Readonly<Record<string, string>> | undefined)[]): string[] {
  const flat: string[] = [];
  for (const part of parts) {
    for (const name in part) flat.push(name, part[name] ?? "");
  }
  return flat;
}

function byteLength(body: string | Uint8Array): number {
  return typeof body === "string" ? Buffer.byteLength(body) : body.length;
}

/** Headers of which two readers could choose different ones when they are doubled: whoever repeats a header has to mean one value. */
function isSingle(name: string): boolean {
  return name === "host" || name === "content-type" || name.startsWith("mcp-");
}

/** No header can have this value, so that it differs from whatever is expected. */
const noValue = "\n";

function isDoubled(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const found = rawHeaders[index];
    if (found?.length === name.length && found.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

/** By connection. */
export type Connections = WeakMap<Socket, Lane>;

/** One listener for all that a connection carries, also for what waits for its turn. */
function laneOf(socket: Socket, connections: Connections, { bounds }: Surroundings): Lane {
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const made = new Lane(bounds);
  connections.set(socket, made);
  socket.once("close", () => made.close());
  return made;
}
