import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { EventSink } from "./exchange.js";
import { Gone } from "./gone.js";
import { NodeSink } from "./node-sink.js";
import { clientGone } from "./refusals.js";
import {
  type BodyCollector,
  collectBody,
  type ServedExchange,
  type Surroundings,
  streamHeaders,
  tooSlow,
} from "./served-exchange.js";

/** An exchange over Node's own request and response: nothing is made of them that is not needed. */
export class NodeExchange implements ServedExchange {
  readonly method: string;
  readonly path: string;
  common: Readonly<Record<string, string>> | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #around: Surroundings;
  readonly #gone = new Gone();
  readonly #open: Set<NodeExchange>;
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
    this.#open = exchangesOf(request.socket, connections);
    this.#open.add(this);
    if (request.socket.destroyed) this.lost();
  }

  header(name: string): string | undefined {
    // Node keeps the first of several and drops the rest: a second credential would not be seen.
    if (name === "authorization") return this.#request.headersDistinct[name]?.join(", ");
    const value = this.#request.headers[name];
    if (name === "host" && isDoubled(this.#request.rawHeaders, name)) return undefined;
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
    this.#open.delete(this);
    // Node does not tell all requests and answers of a connection that it was closed.
    for (const timer of this.#deadlines ?? []) clearTimeout(timer);
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
    if (status !== 204) head.push("content-length", String(body === undefined ? 0 : byteLength(body)));
    response.writeHead(status, head);
    this.#isAnswered = true; // not before: a header that Node refuses leaves room for another answer
    if (body === undefined || this.method === "HEAD") response.end();
    else response.end(body);
    if (!this.#request.complete) this.#discardRest();
    this.#leave();
  }

  openStream(): EventSink {
    this.#isAnswered = true;
    if (!this.#response.destroyed) {
      this.#response.writeHead(200, flatten(streamHeaders, this.common));
      this.#response.flushHeaders();
    }
    return new NodeSink(this.#response, this.#gone, () => this.#leave());
  }

  /** All is written. A client that does not read what it was sent must not be waited for without end. */
  #leave(): void {
    const response = this.#response;
    if (response.writableLength > 0)
      this.#limit(this.#around.bounds.deliveryMs, (over) => response.once("close", over));
    this.#release();
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
    if (this.#deadlines === undefined || this.#deadlines.size === 0) this.#open.delete(this);
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

/** Two readers could choose different ones, so a doubled `Host` is none. */
function isDoubled(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const found = rawHeaders[index];
    if (found?.length === name.length && found.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

/** Exchanges whose answers have not left, by connection. */
export type Connections = WeakMap<Socket, Set<NodeExchange>>;

/** One listener for all that a connection carries, also for what waits for its turn. */
function exchangesOf(socket: Socket, connections: Connections): Set<NodeExchange> {
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const made = new Set<NodeExchange>();
  connections.set(socket, made);
  socket.once("close", () => {
    for (const exchange of [...made]) exchange.lost();
  });
  return made;
}
