import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import type { Placeholders } from "./placeholders.js";
import type { Head } from "./raw-http.js";
import type { HttpRequestLine } from "./transcript.js";

type Headers = Readonly<Record<string, string | readonly string[] | null>>;

/** The headers that a well-behaved client of the revision sends with this message. */
function ordinaryRequest(revision: string, { method = "POST", body }: HttpRequestLine): Headers {
  const stream = "application/json, text/event-stream";
  const common = { host: "127.0.0.1", accept: method === "GET" ? "text/event-stream" : stream };
  const sent = method === "POST" ? { ...common, "content-type": "application/json" } : common;
  if (revision < "2026-07-28") return { ...sent, "mcp-protocol-version": revision, "mcp-session-id": "{session}" };
  return { ...sent, "mcp-protocol-version": revision, ...repeated(body) };
}

/** What 2026-07-28 wants repeated of the body. */
function repeated(body: JsonValue | undefined): Headers {
  if (!isObject(body) || typeof body["method"] !== "string") return {};
  const params = isObject(body["params"]) ? body["params"] : {};
  const name = params["name"] ?? params["uri"] ?? params["taskId"];
  const named = typeof name === "string" ? { "mcp-name": name } : {};
  return { "mcp-method": body["method"], ...named };
}

/** The bytes of a request. */
export function requestBytes(revision: string, line: HttpRequestLine, placeholders: Placeholders): Uint8Array {
  const { method = "POST", path = "/mcp", raw, bytes, body } = line;
  const text = raw ?? (body === undefined ? "" : JSON.stringify(placeholders.expand(body)));
  const content = bytes === undefined ? Buffer.from(text) : Buffer.from(bytes, "latin1");
  const length = method === "POST" || content.length > 0 ? { "content-length": String(content.length) } : {};
  const headers: Headers = { ...ordinaryRequest(revision, line), ...length, ...line.headers };
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === null ? [] : [`${name}: ${placeholders.expand(one)}`])),
  );
  const head = [`${method} ${path} HTTP/1.1`, ...fields, "", ""].join("\r\n");
  return Buffer.concat([Buffer.from(head, "latin1"), content]);
}

const streamHeaders = { "cache-control": "no-cache", "content-type": "text/event-stream", "x-accel-buffering": "no" };
const jsonHeaders = { "content-type": "application/json" };

/** The headers of an answer that need not be written: those that each answer with such a body has. */
export function ordinaryAnswer(answer: "json" | "stream" | "empty"): Readonly<Record<string, string>> {
  return { json: jsonHeaders, stream: streamHeaders, empty: {} }[answer];
}

/** All headers of an answer, from those that are written. */
export function fullHeaders(answer: "json" | "stream" | "empty", written: Headers = {}): JsonObject {
  const all = Object.entries({ ...ordinaryAnswer(answer), ...written }).filter(([, value]) => value !== null);
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The headers of an answer that have to be written; undefined when there are none. */
export function differingHeaders(answer: "json" | "stream" | "empty", { headers }: Head): Headers | undefined {
  const ordinary = new Map(Object.entries(ordinaryAnswer(answer)));
  const missing = [...ordinary.keys()].filter((name) => !(name in headers)).map((name) => [name, null]);
  const others = Object.entries(headers).filter(([name, value]) => ordinary.get(name) !== value);
  const all = [...missing, ...others];
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

/** An event as its lines say: `msg` stands for data that is a message, other fields for themselves. */
export function readEvent(text: string): JsonObject {
  const fields = text.split("\n").map((line): [string, JsonValue] => {
    const colon = line.indexOf(":");
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    return name === "data" && value.startsWith("{") ? ["msg", JSON.parse(value)] : [name, value];
  });
  return Object.fromEntries(fields);
}

export function writeEvent(event: JsonValue): string {
  if (!isObject(event)) throw new Error("an event is an object");
  const lines = Object.entries(event).map(([name, value]) =>
    name === "msg" ? `data: ${JSON.stringify(value)}` : `${name}: ${value}`,
  );
  return lines.join("\n");
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
