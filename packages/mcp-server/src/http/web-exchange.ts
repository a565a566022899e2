import { collectBody } from "./body.js";
import type { EventSink } from "./exchange.js";
import { Gone } from "./gone.js";
import { clientGone, HttpRefusal } from "./refusals.js";
import { type ServedExchange, type Surroundings, streamHeaders, tooSlow } from "./served-exchange.js";
import { openWebStream } from "./web-sink.js";

/** No status of HTTP, but what servers write into their logs for a client that left. */
const clientClosed = 499;

/** An exchange over a web-standard `Request`; `response` resolves when the answer begins. */
export class WebExchange implements ServedExchange {
  readonly method: string;
  readonly path: string;
  readonly response: Promise<Response>;
  common: Readonly<Record<string, string>> | undefined;
  readonly #request: Request;
  readonly #host: string;
  readonly #around: Surroundings;
  readonly #gone = new Gone();
  #respond: (response: Response) => void = () => undefined;
  #isAnswered = false;

  constructor(request: Request, around: Surroundings) {
    const { pathname, host } = new URL(request.url);
    this.method = request.method.toUpperCase();
    this.path = pathname;
    this.#host = host;
    this.#request = request;
    this.#around = around;
    this.response = new Promise((resolve) => {
      this.#respond = resolve;
    });
    // Whoever called `fetch` still waits, whatever the handler does.
    this.#gone.onGone(() => this.answer(clientClosed, {}));
    request.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (request.signal.aborted) this.#gone.tell();
  }

  /** A `Request` that was made from its address alone has no `Host`: the address says it. */
  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? (name === "host" ? this.#host : undefined);
  }

  get isGone(): boolean {
    return this.#gone.isGone;
  }

  onGone(callback: () => void): void {
    this.#gone.onGone(callback);
  }

  readonly #onAbort = (): void => this.#gone.tell();

  async readBody(maxBytes: number): Promise<Uint8Array> {
    const { headers, body: stream } = this.#request;
    const body = collectBody(headers.get("content-length") ?? undefined, maxBytes, this.#around);
    const reader = stream?.getReader();
    const { bodyMs } = this.#around.bounds;
    let refusal: Error | undefined;
    const stop = (reason: Error): void => {
      refusal ??= reason;
      void reader?.cancel(reason).catch(() => undefined); // whoever sends it has failed already
    };
    const timer = setTimeout(() => stop(tooSlow(bodyMs)), bodyMs);
    this.#gone.onGone(() => stop(clientGone()));
    try {
      while (reader !== undefined) {
        const { done, value } = await reader.read();
        if (refusal !== undefined) throw refusal;
        if (done) break;
        body.add(value);
      }
      return body.take();
    } catch (error) {
      stop(error instanceof HttpRefusal ? error : clientGone()); // the body itself fails when its sender is gone
      throw refusal;
    } finally {
      clearTimeout(timer);
      body.release();
    }
  }

  answer(status: number, headers: Readonly<Record<string, string>>, body?: string | Uint8Array): void {
    if (this.#isAnswered) return;
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    const all: Record<string, string> = { ...headers, ...this.common };
    if (status !== 204) all["content-length"] = String(bytes?.length ?? 0);
    const hasBody = bytes !== undefined && this.method !== "HEAD";
    const response = new Response(hasBody ? new Uint8Array(bytes) : null, { status, headers: all });
    this.#isAnswered = true; // not before: a header that is none leaves room for another answer
    this.#forget();
    this.#respond(response);
  }

  openStream(): EventSink {
    this.#isAnswered = true;
    const count = (bytes: number): void => {
      this.#around.unsentBytes += bytes;
    };
    const { stream, sink } = openWebStream(this.#gone, { count, ended: () => this.#forget() });
    this.#respond(new Response(stream, { status: 200, headers: { ...streamHeaders, ...this.common } }));
    return sink;
  }

  #forget(): void {
    this.#request.signal.removeEventListener("abort", this.#onAbort);
  }
}
