import type { EventSink, Exchange } from "../../../src/http/exchange.js";

/** One event as a client reads it. */
export interface ReadEvent {
  readonly id: string | undefined;
  readonly retry: number | undefined;
  /** Undefined for an event without a message. */
  readonly message: { readonly [key: string]: unknown } | undefined;
}

/** An HTTP exchange without HTTP: what was answered is read off it. */
export class MemoryExchange implements Exchange {
  readonly method: string;
  readonly path = "/mcp";
  status: number | undefined;
  headers: Readonly<Record<string, string>> = {};
  /** Of an answer that is no stream. */
  body = "";
  /** Of a stream, as far as it has come. */
  text = "";
  isStream = false;
  isEnded = false;
  isAborted = false;
  isGone = false;
  /** Whether the client takes what is sent. */
  isReading = true;
  answers = 0;
  queuedBytes = 0;
  readonly #given: Readonly<Record<string, string | undefined>>;
  readonly #gone: (() => void)[] = [];
  readonly #drained: (() => void)[] = [];
  readonly #ended: (() => void)[] = [];

  constructor(method: string, given: Readonly<Record<string, string | undefined>>) {
    this.method = method;
    this.#given = given;
  }

  header(name: string): string | undefined {
    return this.#given[name];
  }

  async readBody(): Promise<Uint8Array> {
    throw new Error("the body was read before");
  }

  onGone(callback: () => void): void {
    if (this.isGone) callback();
    else this.#gone.push(callback);
  }

  answer(status: number, headers: Readonly<Record<string, string>>, body: string | Uint8Array = ""): void {
    this.answers += 1;
    this.status = status;
    this.headers = headers;
    this.body = Buffer.from(body).toString();
    this.#finish();
  }

  openStream(): EventSink {
    this.answers += 1;
    this.status = 200;
    this.isStream = true;
    const exchange = this;
    return {
      get queuedBytes() {
        return exchange.queuedBytes;
      },
      write(text) {
        if (exchange.isEnded || exchange.isGone) return;
        exchange.text += text;
        if (!exchange.isReading) exchange.queuedBytes += Buffer.byteLength(text);
      },
      end: () => exchange.#finish(),
      drained: () =>
        exchange.queuedBytes === 0 ? Promise.resolve() : new Promise((done) => exchange.#drained.push(done)),
      abort() {
        exchange.isAborted = true;
        exchange.leave();
      },
    };
  }

  /** The client closes the connection. */
  leave(): void {
    if (this.isGone || (this.isEnded && this.queuedBytes === 0)) return;
    this.isGone = true;
    for (const callback of this.#gone.splice(0)) callback();
    this.#settle();
  }

  /** The client takes all that waits. */
  read(): void {
    this.isReading = true;
    this.queuedBytes = 0;
    this.#settle();
  }

  /** When the answer is whole, or the stream has ended. */
  ended(): Promise<void> {
    return this.isEnded ? Promise.resolve() : new Promise((done) => this.#ended.push(done));
  }

  get json(): { readonly [key: string]: unknown } {
    return JSON.parse(this.body);
  }

  /** All events so far; comments are no events. */
  get events(): ReadEvent[] {
    const blocks = this.text.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
    return blocks.map((block) => {
      const fields = new Map(
        block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
      );
      const [data, retry] = [fields.get("data"), fields.get("retry")];
      return {
        id: fields.get("id"),
        retry: retry === undefined ? undefined : Number(retry),
        message: data === undefined || data === "" ? undefined : JSON.parse(data),
      };
    });
  }

  /** What the events carry, without those that carry nothing. */
  get messages(): readonly { readonly [key: string]: unknown }[] {
    return this.events.flatMap(({ message }) => (message === undefined ? [] : [message]));
  }

  get lastId(): string | undefined {
    return this.events.findLast(({ id }) => id !== undefined)?.id;
  }

  #finish(): void {
    this.isEnded = true;
    for (const done of this.#ended.splice(0)) done();
  }

  #settle(): void {
    for (const done of this.#drained.splice(0)) done();
  }
}
