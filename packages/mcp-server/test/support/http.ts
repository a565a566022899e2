import { type ClientRequest, type IncomingMessage, request as nodeRequest } from "node:http";
import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { createHttpHandler, type HttpHandlerOptions, serveHttp } from "../../src/http.js";

/** One request as a client sends it. */
export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** An answer that is read as it comes. */
export interface OpenAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The next event, parsed; undefined when there are no more. */
  next(): Promise<JsonObject | undefined>;
  /** All that is left, as text. */
  text(): Promise<string>;
  /** Comments so far. */
  readonly comments: number;
  /** The newest id of an event so far. */
  readonly lastId: string | undefined;
  /** The client goes away. */
  leave(): void;
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined for an empty body. */
  readonly json: JsonObject | undefined;
}

/** A server, and a client that reaches it by one of the two ways. */
export interface FrontEnd extends AsyncDisposable {
  open(sent: Sent): Promise<OpenAnswer>;
  send(sent: Sent): Promise<Answered>;
  /** Begins a request and goes away without waiting for the answer. */
  begin(sent: Sent): { leave(): void };
  close(): Promise<void>;
}

export type Options = HttpHandlerOptions<string>;

export const frontEnds: readonly { readonly name: string; readonly start: (options: Options) => Promise<FrontEnd> }[] =
  [
    { name: "Node's http", start: overNode },
    { name: "web-standard requests", start: overFetch },
  ];

async function overNode(options: Options): Promise<FrontEnd> {
  const server = await serveHttp({ logger: () => undefined, ...options });
  const begin = (sent: Sent): { request: ClientRequest; response: Promise<IncomingMessage> } => {
    const { method = "POST", path = "/mcp", headers = {}, body } = sent;
    const { length } = Buffer.from(body ?? "");
    const all = { "content-length": String(length), ...headers };
    const request = nodeRequest({ host: "127.0.0.1", port: server.port, method, path, headers: all });
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      request.on("response", resolve).on("error", reject);
    });
    request.end(body);
    return { request, response };
  };
  const open = async (sent: Sent): Promise<OpenAnswer> => {
    const response = await begin(sent).response;
    response.on("error", () => undefined); // the server may cut it off
    const headers = new Headers();
    for (let at = 0; at < response.rawHeaders.length; at += 2) {
      headers.append(response.rawHeaders[at] ?? "", response.rawHeaders[at + 1] ?? "");
    }
    return openAnswer(response.statusCode ?? 0, headers, response, () => response.destroy());
  };
  return {
    open,
    send: async (sent) => readAll(await open(sent)),
    begin(sent) {
      const { request, response } = begin(sent);
      response.catch(() => undefined);
      return { leave: () => void request.destroy() };
    },
    close: server.close,
    [Symbol.asyncDispose]: server.close,
  };
}

async function overFetch(options: Options): Promise<FrontEnd> {
  const handler = createHttpHandler({ logger: () => undefined, ...options });
  const begin = (sent: Sent): { response: Promise<Response>; leave: () => void } => {
    const { method = "POST", path = "/mcp", headers = {}, body } = sent;
    const leaving = new AbortController();
    const { signal } = leaving;
    const given = method === "GET" || method === "HEAD" || body === undefined ? null : Buffer.from(body);
    const request = new Request(`http://127.0.0.1${path}`, { method, headers, body: given, signal });
    return { response: handler.fetch(request), leave: () => leaving.abort() };
  };
  const open = async (sent: Sent): Promise<OpenAnswer> => {
    const { response: coming, leave } = begin(sent);
    const response = await coming;
    return openAnswer(response.status, response.headers, response.body ?? [], leave);
  };
  return {
    open,
    send: async (sent) => readAll(await open(sent)),
    begin,
    close: handler.close,
    [Symbol.asyncDispose]: handler.close,
  };
}

function openAnswer(
  status: number,
  headers: Headers,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  leave: () => void,
): OpenAnswer {
  const chunks = Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
  let text = "";
  let comments = 0;
  let lastId: string | undefined;
  const more = async (): Promise<boolean> => {
    const { done, value } = await chunks.next();
    if (done !== true) text += Buffer.from(value).toString();
    return done !== true;
  };
  return {
    status,
    headers,
    async next() {
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end < 0) {
          if (await more()) continue;
          return undefined;
        }
        const event = text.slice(0, end);
        text = text.slice(end + 2);
        const fields = new Map(
          event.split("\n").map((line) => [line.split(": ", 1)[0], line.slice(line.indexOf(": ") + 2)]),
        );
        lastId = fields.get("id") ?? lastId;
        const data = fields.get("data");
        if (data !== undefined && data !== "") return JSON.parse(data);
        if (event.startsWith(":")) comments += 1;
      }
    },
    async text() {
      while (await more());
      return text;
    },
    get comments() {
      return comments;
    },
    get lastId() {
      return lastId;
    },
    leave,
  };
}

async function readAll(answer: OpenAnswer): Promise<Answered> {
  const text = await answer.text();
  const isJson = answer.headers.get("content-type") === "application/json";
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: isJson && text !== "" ? JSON.parse(text) : undefined,
  };
}

const revision = "2026-07-28";

/** What a request of 2026-07-28 may differ in. */
interface Asked {
  readonly id?: string | number;
  readonly meta?: JsonObject;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly capabilities?: JsonObject;
}

/** A right request of 2026-07-28, but for what is asked otherwise. A header that is undefined is left out. */
export function modern(method: string, params: JsonObject = {}, asked: Asked = {}): Sent {
  const _meta: JsonObject = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": asked.capabilities ?? {},
    ...asked.meta,
  };
  const name = params["name"] ?? params["uri"];
  const headers: Record<string, string | undefined> = {
    ...json,
    "mcp-protocol-version": revision,
    "mcp-method": method,
    "mcp-name": typeof name === "string" ? name : undefined,
    ...asked.headers,
  };
  return {
    headers: present(headers),
    body: JSON.stringify({ jsonrpc: "2.0", id: asked.id ?? 1, method, params: { ...params, _meta } }),
  };
}

export function call(name: string, given: JsonObject = {}, asked: Asked = {}): Sent {
  return modern("tools/call", { name, arguments: given }, asked);
}

/** Any message, with the headers of the older revisions. */
export function post(message: JsonValue, headers: Readonly<Record<string, string | undefined>> = {}): Sent {
  return { headers: present({ ...json, ...headers }), body: JSON.stringify(message) };
}

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

function present(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const some: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) some[name] = value;
  return some;
}

/** The number of the error that an answer is. */
export function codeOf({ json: body }: Answered): number | undefined {
  const error = body?.["error"];
  if (typeof error !== "object" || error === null || Array.isArray(error)) return undefined;
  return "code" in error ? Number(error["code"]) : undefined;
}

/** The same with other headers; one that is undefined is left out. */
export function withHeaders(sent: Sent, headers: Readonly<Record<string, string | undefined>>): Sent {
  return { ...sent, headers: present({ ...sent.headers, ...headers }) };
}
