import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { BodyRefusal, createBodyReader, isForeignPage, type NamesServed } from "@berth/command-line/http";
import type { McpServer } from "@berth/mcp-server";
import type { Admitter } from "@berth/mcp-server/http";
import { answerRequest, readFrame } from "../rpc/answer.js";
import type { HostMethods } from "../rpc/methods.js";
import { endRefused } from "./end-refused.js";
import { HttpRefusal } from "./http-refusal.js";
import { createMcpDoor, localPrincipal } from "./mcp-door.js";
import type { Metrics } from "./metrics.js";

export interface DoorsParts {
  readonly server: McpServer<string>;
  readonly methods: HostMethods;
  readonly metrics: Metrics;
  readonly names: NamesServed;
  /** Says who sent a request, on every route but `/health`. Absent: everybody is `local`. */
  readonly admitter: Admitter<string> | undefined;
  readonly onFault: (fault: unknown) => void;
  /** Told what was refused at `/mcp`, in one line. */
  readonly onNote: (text: string) => void;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/** Everything that is served on one port, without the listening. */
export interface Doors extends AsyncDisposable {
  /** Never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

const bounds = { maxBodyBytes: 16 * 1024 * 1024, maxBufferedBytes: 64 * 1024 * 1024 } as const;

/** What a route answers with. */
interface Reply {
  readonly status: number;
  readonly type?: string | undefined;
  readonly body?: string | undefined;
}

/** JSON-RPC at `/rpc`, MCP at `/mcp`, `/health` and `/metrics`. */
export function createDoors(parts: DoorsParts): Doors {
  const { methods, metrics, admitter, names, onFault } = parts;
  const bodies = createBodyReader(bounds);
  const mcp = createMcpDoor({ ...parts, maxBodyBytes: bounds.maxBodyBytes });

  const answer = async (request: IncomingMessage, path: string, signal: AbortSignal): Promise<Reply> => {
    const { method = "GET", headers } = request;
    const refusal = names.refusal(headers.host, headers.origin);
    if (refusal !== undefined) throw new HttpRefusal(403, refusal);
    if (isForeign(method, headers)) throw new HttpRefusal(403, "pages of another origin may not use this");
    if (path === "/health") return only("GET", method, () => healthReply(methods, signal));
    const principal = await admit(admitter, request, path, signal);
    switch (path) {
      case "/rpc":
        return only("POST", method, () => rpc(request, principal, signal));
      case "/metrics":
        return only("GET", method, async () => {
          const { plugins } = await methods.health(signal);
          return { status: 200, type: "text/plain; version=0.0.4; charset=utf-8", body: metrics.write({ plugins }) };
        });
      default:
        throw new HttpRefusal(404, "there is nothing at this path; there are /rpc, /mcp, /health and /metrics");
    }
  };
  const rpc = (request: IncomingMessage, principal: string, signal: AbortSignal): Promise<Reply> => {
    // A page of another origin cannot send this type without asking first.
    if (!/^application\/json\s*(?:;|$)/iu.test(request.headers["content-type"] ?? ""))
      throw new HttpRefusal(415, "the body has to be application/json");
    return bodies.use(request, principal, bounds.maxBodyBytes, async (body) => {
      const message = readFrame(body);
      if (!("kind" in message)) return json(400, message);
      if (message.kind !== "request") return { status: 202 };
      return json(200, await answerRequest(methods, { principal, door: "http" }, message, { signal, onFault }));
    });
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.once("close", () => gone.abort(new Error("the client is gone")));
    const signal = AbortSignal.any([gone.signal, parts.signal]);
    const path = pathOf(request);
    if (path === "/mcp" || admitter?.documents?.has(path) === true) return mcp.handler.node(request, response);
    try {
      write(response, await answer(request, path, signal));
    } catch (error) {
      if (gone.signal.aborted) return;
      const refusal = refusalOf(error);
      if (refusal === undefined) onFault(error);
      const { status, message, headers } = refusal ?? new HttpRefusal(500, "internal error");
      refuse(request, response, json(status, { error: message }), headers);
    }
  };
  return {
    handle: (request, response) => void serve(request, response).catch(onFault),
    close: mcp.close,
    [Symbol.asyncDispose]: mcp.close,
  };
}

function refusalOf(error: unknown): HttpRefusal | undefined {
  if (error instanceof BodyRefusal) return new HttpRefusal(error.status, error.message);
  return error instanceof HttpRefusal ? error : undefined;
}

function isForeign(method: string, headers: IncomingHttpHeaders): boolean {
  const [site, mode] = [headers["sec-fetch-site"], headers["sec-fetch-mode"]];
  return isForeignPage({ method, site, mode: Array.isArray(mode) ? mode[0] : mode });
}

function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "/";
}

function only(allowed: string, method: string, handle: () => Promise<Reply>): Promise<Reply> {
  if (method === allowed) return handle();
  throw new HttpRefusal(405, `this path takes ${allowed} only`, { allow: allowed });
}

/** @throws {HttpRefusal} 401 and others, as the admitter says it. */
async function admit(
  admitter: Admitter<string> | undefined,
  request: IncomingMessage,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  if (admitter === undefined) return localPrincipal;
  const header = (name: string): string | undefined => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  };
  const admission = await admitter.admit({ method: request.method ?? "GET", path, header }, signal);
  if ("principal" in admission) return admission.principal;
  const { status, message, challenge, retryAfterSeconds } = admission;
  throw new HttpRefusal(status, message, {
    ...(challenge === undefined ? {} : { "www-authenticate": challenge }),
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  });
}

/** For whoever watches: which plugins fail is told, why only to those that may ask for more. */
async function healthReply(methods: HostMethods, signal: AbortSignal): Promise<Reply> {
  const { ok, plugins } = await methods.health(signal);
  const states = Object.fromEntries(plugins.map(({ plugin, state }) => [plugin, state]));
  return json(ok ? 200 : 503, { ok, plugins: states });
}

function json(status: number, value: object): Reply {
  return { status, type: "application/json", body: `${JSON.stringify(value)}\n` };
}

type Headers = Readonly<Record<string, string>>;

function write(response: ServerResponse, reply: Reply): void {
  if (response.destroyed) return;
  response.writeHead(reply.status, headersOf(reply)).end(reply.body);
}

/** A client that is refused gets no further request on its connection. */
function refuse(request: IncomingMessage, response: ServerResponse, reply: Reply, more: Headers): void {
  if (response.destroyed) return;
  const { status, body = "" } = reply;
  const length = { "content-length": String(Buffer.byteLength(body)) };
  response.writeHead(status, { ...more, ...headersOf(reply), ...length, connection: "close" });
  endRefused(request, response, body);
}

function headersOf({ type }: Reply): Headers {
  return {
    ...(type === undefined ? {} : { "content-type": type }),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
}
