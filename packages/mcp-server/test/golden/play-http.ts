import type { JsonObject } from "@berth/jsonrpc-framing";
import { expect } from "vitest";
import { type Clock, untilQuiet } from "./clock.js";
import { differingHeaders, fullHeaders, readEvent, requestBytes, writeEvent } from "./http-lines.js";
import { Placeholders } from "./placeholders.js";
import { handshake } from "./play-stdio.js";
import { type Head, openRaw, type RawExchange } from "./raw-http.js";
import type { Exchange, HttpRequestLine, Line, Transcript } from "./transcript.js";

type HttpLine = NonNullable<Line["http"]>;

/** What is open while an exchange is played. */
class Play {
  readonly placeholders: Placeholders = new Placeholders();
  readonly waiting: RawExchange[] = [];
  readonly streams: Map<string, RawExchange> = new Map();
  readonly #port: number;
  readonly #clock: Clock;
  readonly #revision: string;

  constructor(port: number, { revision }: Transcript, clock: Clock) {
    this.#port = port;
    this.#clock = clock;
    this.#revision = revision;
  }

  request(line: HttpRequestLine): RawExchange {
    return openRaw(this.#port, requestBytes(this.#revision, line, this.placeholders));
  }

  /** Does what a line says that is not of the server. */
  play({ dir, http, as, passMs = 0 }: Line): void {
    if (dir === "clock") this.#clock.pass(passMs);
    else if (http === undefined) this.stream(as).close();
    else if (as === undefined) this.waiting.push(this.request(http));
    else this.streams.set(as, this.request(http));
  }

  stream(name: string | undefined): RawExchange {
    const found = this.streams.get(name ?? "");
    if (found === undefined) throw new Error(`there is no stream ${name}`);
    return found;
  }

  async shakeHands({ header }: Exchange): Promise<void> {
    if (this.#revision >= "2026-07-28" || header.handshake === false) return;
    for (const body of handshake(header.asks ?? this.#revision, header.capabilities ?? {})) {
      const headers = "id" in body ? { "mcp-session-id": null, "mcp-protocol-version": null } : {};
      const answer = this.request({ body, headers });
      this.placeholders.bind({ "mcp-session-id": "{session}" }, (await answer.head()).headers);
      await answer.whole();
    }
  }

  /** Whatever is still to be said on an open stream comes before the answer to another request, made now. */
  async fence(): Promise<void> {
    const body = { jsonrpc: "2.0", id: "fence", method: "server/discover", params: { _meta: "{meta}" } };
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover", "mcp-session-id": null };
    await this.request({ body, headers }).whole();
  }

  close(): void {
    for (const open of [...this.waiting, ...this.streams.values()]) open.close();
  }
}

/** Plays an exchange and throws at the first difference between what the server sends and what is written. */
export async function checkHttp(transcript: Transcript, exchange: Exchange, port: number, clock: Clock): Promise<void> {
  const play = new Play(port, transcript, clock);
  try {
    await play.shakeHands(exchange);
    for (const line of exchange.lines) {
      if (line.dir !== "server") play.play(line);
      else if (line.as === undefined) await expectWhole(line, play);
      else await expectPart(line, play.stream(line.as), play.placeholders);
    }
    await play.fence();
    const unread = [...play.streams].map(([name, stream]) => [name, stream.unread]);
    const open = [...play.streams.keys()].map((name) => [name, ""]);
    expect({ unread, unanswered: play.waiting.length }).toEqual({ unread: open, unanswered: 0 });
  } finally {
    play.close();
  }
}

/** Plays what the client says, and returns it with what the server says now. */
export async function recordHttp(
  transcript: Transcript,
  exchange: Exchange,
  port: number,
  clock: Clock,
): Promise<readonly Line[]> {
  const play = new Play(port, transcript, clock);
  const recorded: Line[] = [];
  const begun = new Set<string>();
  const over = new Set<string>();
  const take = async (): Promise<void> => {
    await untilQuiet(() => [...play.streams.values()].reduce((sum, { received }) => sum + received, 0));
    for (const [as, stream] of play.streams) {
      if (over.has(as) || !stream.hasHead) continue;
      if (!begun.has(as))
        recorded.push({ dir: "server", as, http: headLine(await stream.head(), "stream", play.placeholders) });
      begun.add(as);
      while (stream.unread.includes("\n\n")) {
        recorded.push({ dir: "server", as, event: abstractEvent(await stream.nextEvent(), play.placeholders) });
      }
      if (stream.isOver) recorded.push({ dir: "server", as, end: true });
      if (stream.isOver) over.add(as);
    }
  };
  await play.shakeHands(exchange);
  for (const line of exchange.lines.filter(({ dir }) => dir !== "server")) {
    recorded.push(line);
    play.play(line);
    const answer = play.waiting.pop();
    if (answer !== undefined) recorded.push({ dir: "server", http: await wholeLine(answer, play.placeholders) });
    if (line.as !== undefined && line.end) over.add(line.as);
    await take();
  }
  play.close();
  return recorded;
}

async function expectWhole({ http = {} }: Line, { waiting, placeholders }: Play): Promise<void> {
  const answer = waiting.shift();
  if (answer === undefined) throw new Error("no request waits for this answer");
  const head = await answer.head();
  const text = await answer.whole();
  const { events, body } = http;
  const kind = events !== undefined ? "stream" : body === undefined ? "empty" : "json";
  if (body !== undefined && text.startsWith("{")) placeholders.bind(body, JSON.parse(text));
  events?.forEach((event, index) => void placeholders.bind(event, readEvent(text.split("\n\n")[index] ?? "")));
  const written = events?.map((event) => `${writeEvent(placeholders.expand(event))}\n\n`).join("");
  const expected = body === undefined ? (http.raw ?? "") : JSON.stringify(placeholders.expand(body));
  expectHead(head, http, kind, placeholders);
  expect(text).toBe(written ?? expected);
}

async function expectPart({ http, event, end }: Line, stream: RawExchange, placeholders: Placeholders): Promise<void> {
  if (http !== undefined) expectHead(await stream.head(), http, "stream", placeholders);
  if (event !== undefined) {
    const text = await stream.nextEvent();
    placeholders.bind(event, readEvent(text));
    expect(text).toBe(writeEvent(placeholders.expand(event)));
  }
  if (end === true) await stream.ended();
}

function expectHead(
  { status, headers }: Head,
  http: HttpLine,
  kind: "json" | "stream" | "empty",
  placeholders: Placeholders,
): void {
  const expected = fullHeaders(kind, http.headers);
  placeholders.bind(expected, headers);
  expect({ status, headers }).toEqual({ status: http.status, headers: placeholders.expand(expected) });
}

async function wholeLine(answer: RawExchange, placeholders: Placeholders): Promise<HttpLine> {
  const head = await answer.head();
  const text = await answer.whole();
  if (head.headers["content-type"] === "text/event-stream") {
    const events = text.split("\n\n").slice(0, -1);
    return {
      ...headLine(head, "stream", placeholders),
      events: events.map((event) => abstractEvent(event, placeholders)),
    };
  }
  if (text === "") return headLine(head, "empty", placeholders);
  const written = headLine(head, "json", placeholders);
  return text.startsWith("{")
    ? { ...written, body: placeholders.abstract(JSON.parse(text)) }
    : { ...written, raw: text };
}

function headLine(head: Head, kind: "json" | "stream" | "empty", placeholders: Placeholders): HttpLine {
  const differing = differingHeaders(kind, head);
  if (differing === undefined) return { status: head.status };
  const session = head.headers["mcp-session-id"];
  const named = session === undefined ? {} : { "mcp-session-id": placeholders.nameFor("session", session) };
  return { status: head.status, headers: { ...differing, ...named } };
}

function abstractEvent(text: string, placeholders: Placeholders): JsonObject {
  const members = Object.entries(readEvent(text)).map(([name, value]) => [name, placeholders.abstract(value ?? null)]);
  return Object.fromEntries(members);
}
