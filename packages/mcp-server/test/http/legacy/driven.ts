import { type JsonObject, parseMessage } from "@berth/jsonrpc-framing";
import { createFakeScheduler, type FakeScheduler } from "../../../../jsonrpc-framing/test/fake-scheduler.js";
import { overHttp } from "../../../src/http/handler.js";
import type { SessionOptions } from "../../../src/http/legacy/options.js";
import { createLegacySide, type LegacySide } from "../../../src/http/legacy-side.js";
import { type HttpServerLimits, readHttpBounds } from "../../../src/http/limits.js";
import { refuseWith } from "../../../src/http/refusals.js";
import {
  createMcpServer,
  defineTool,
  type McpServer,
  type McpServerOptions,
  type RequestScope,
} from "../../../src/index.js";
import { MemoryExchange } from "./memory-exchange.js";

/** A call that a handler is working on, in the hands of the test. */
export interface DrivenCall {
  readonly scope: RequestScope<string>;
  answer(text: string): void;
  fail(error: unknown): void;
}

/** What a client sends beside a message. */
export interface Sender {
  readonly session?: string | undefined;
  readonly principal?: string | undefined;
  readonly lastEventId?: string | undefined;
  readonly version?: string | undefined;
  /** Whether it takes what it gets. Default true. */
  readonly isReading?: boolean | undefined;
}

/** The legacy side of a server whose one tool, "run", does what the test says, and time that moves when the test says so. */
export interface Driven {
  readonly side: LegacySide<string>;
  readonly server: McpServer<string>;
  readonly time: FakeScheduler;
  readonly errors: unknown[];
  /** The calls that handlers are working on, by the argument `name`. */
  readonly calls: Map<string, DrivenCall>;
  /** Opens a session; its id. */
  initialize(revision?: string, principal?: string, capabilities?: JsonObject): Promise<string>;
  /** Sends one message; the exchange may be answered later. */
  post(message: JsonObject, from?: Sender): MemoryExchange;
  /** Calls "run"; resolves when its handler has begun. */
  call(id: string | number, name: string, from: Sender, meta?: JsonObject): Promise<MemoryExchange>;
  get(from: Sender): Promise<MemoryExchange>;
  delete(from: Sender): MemoryExchange;
}

const named = { type: "object", properties: { name: { type: "string" } } } as const;

/** All that is ready has run. */
export const settled = (): Promise<void> => new Promise(setImmediate);

export function drive(
  sessions?: SessionOptions,
  more: Partial<McpServerOptions<string>> = {},
  limits?: HttpServerLimits,
): Driven {
  const time = createFakeScheduler();
  const errors: unknown[] = [];
  const calls = new Map<string, DrivenCall>();
  const server = createMcpServer<string>({
    identity: { name: "driven", version: "1" },
    authorize: () => true,
    tools: [
      defineTool<string, typeof named>({
        name: "run",
        description: "Does what the test says",
        inputSchema: named,
        permission: "use",
        handler: (scope) =>
          new Promise((answer, fail) => {
            calls.set(String(scope.arguments["name"]), { scope, answer, fail });
          }),
      }),
    ],
    scheduler: time,
    ...more,
  });
  const report = (error: unknown): void => void errors.push(error);
  const side = createLegacySide<string>({
    server,
    revisions: overHttp(server.revisions).legacy,
    streams: readHttpBounds(limits),
    sessions,
    scheduler: time,
    onUnexpectedError: report,
  });
  const exchangeOf = (method: string, from: Sender): MemoryExchange => {
    const exchange = new MemoryExchange(method, {
      "mcp-session-id": from.session,
      "last-event-id": from.lastEventId,
      "mcp-protocol-version": from.version,
    });
    exchange.isReading = from.isReading ?? true;
    return exchange;
  };
  const post: Driven["post"] = (message, from = {}) => {
    const exchange = exchangeOf("POST", from);
    const parsed = parseMessage(Buffer.from(JSON.stringify(message)));
    const id = parsed.kind === "request" ? parsed.id : undefined;
    const posted = side.post(exchange, parsed, from.principal ?? "ada");
    posted.catch((error) => refuseWith(exchange, error, id, report));
    return exchange;
  };
  return {
    side,
    server,
    time,
    errors,
    calls,
    post,
    async initialize(protocolVersion = "2025-11-25", principal = "ada", capabilities = {}) {
      const params = { protocolVersion, capabilities, clientInfo: { name: "test", version: "1" } };
      const exchange = post({ jsonrpc: "2.0", id: 0, method: "initialize", params }, { principal });
      await exchange.ended();
      const session = exchange.headers["mcp-session-id"];
      if (session === undefined) throw new Error(`no session: ${exchange.status} ${exchange.body}`);
      return session;
    },
    async call(id, name, from, _meta = {}) {
      const params = { name: "run", arguments: { name }, _meta };
      const exchange = post({ jsonrpc: "2.0", id, method: "tools/call", params }, from);
      await settled();
      return exchange;
    },
    async get(from) {
      const exchange = exchangeOf("GET", from);
      side.get(exchange, from.principal ?? "ada").catch((error) => refuseWith(exchange, error, undefined, report));
      await settled();
      return exchange;
    },
    delete(from) {
      const exchange = exchangeOf("DELETE", from);
      try {
        side.delete(exchange, from.principal ?? "ada");
      } catch (error) {
        refuseWith(exchange, error, undefined, report);
      }
      return exchange;
    },
  };
}

/** The text of a tool's answer, or its error. */
export function answerOf(message: { readonly [key: string]: unknown } | undefined): unknown {
  const { result, error } = JSON.parse(JSON.stringify(message ?? {}));
  return result?.content?.[0]?.text ?? error;
}
