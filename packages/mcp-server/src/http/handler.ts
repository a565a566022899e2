import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServedRevisions } from "../era.js";
import { logToStderr } from "../log-to-stderr.js";
import { tell } from "../tell.js";
import { createEndpoint } from "./endpoint.js";
import { createLegacySide } from "./legacy-side.js";
import { type HttpBounds, readHttpBounds } from "./limits.js";
import { type Connections, NodeExchange } from "./node-exchange.js";
import { checkHttpOptions, type HttpHandlerOptions } from "./options.js";
import type { Surroundings } from "./served-exchange.js";
import { WebExchange } from "./web-exchange.js";

/** A server of MCP over HTTP, without the listening. */
export interface HttpHandler extends AsyncDisposable {
  /**
   * Answers a web-standard request. Never rejects. Aborting the request's signal, or cancelling the body of the answer, means that the client is
   * gone. A request without a `Host` header has the one of its address.
   */
  fetch(request: Request): Promise<Response>;
  /** Answers a request of Node's `http`, on its own request and response. Never throws. */
  node(request: IncomingMessage, response: ServerResponse): void;
  /** Open sessions of clients that opened with `initialize`. */
  readonly sessionCount: number;
  /** Refuses requests from now on, waits `drainMs` for those under way, answers what is still open, and releases all. May be called again. */
  close(): Promise<void>;
}

/**
 * Serves every current revision of MCP at one path (MCP 2025-11-25 and 2026-07-28, Transports § Streamable HTTP).
 * @throws {RangeError} for a limit out of its range, {TypeError} for an option or a limit that does not exist or is of another kind, for a bad path, host or
 * origin, and without a principal or an admitter, or with both.
 */
export function createHttpHandler<P>(options: HttpHandlerOptions<P>): HttpHandler {
  checkHttpOptions(options);
  return openHandler(options, readHttpBounds(options.limits));
}

/** As `createHttpHandler`, of options that were checked. */
export function openHandler<P>(options: HttpHandlerOptions<P>, bounds: HttpBounds): HttpHandler {
  const { server, sessions, logger = logToStderr } = options;
  const around: Surroundings = { bounds, bufferedBytes: 0, workedBytes: 0, unsentBytes: 0, leaving: 0 };
  const unexpected = (error: unknown, where: string): void => {
    tell(logger, `unexpected error in ${where}`, error);
    tell(options.onUnexpectedError, error);
  };
  const revisions = overHttp(server.revisions);
  const onUnexpectedError = (error: unknown): void => unexpected(error, "a session");
  const legacy =
    revisions.legacy.length === 0
      ? undefined
      : createLegacySide({ server, revisions: revisions.legacy, streams: bounds, sessions, onUnexpectedError });
  const endpoint = createEndpoint(options, {
    around,
    revisions,
    legacy,
    unexpected,
    note: (text) => tell(logger, text),
  });
  const connections: Connections = new WeakMap();
  return {
    fetch(request) {
      const exchange = new WebExchange(request, around);
      endpoint.serve(exchange);
      return exchange.response;
    },
    node(request, response) {
      const exchange = new NodeExchange(request, response, around, connections);
      exchange.begin(() => endpoint.serve(exchange));
    },
    get sessionCount() {
      return endpoint.sessionCount;
    },
    close: endpoint.close,
    [Symbol.asyncDispose]: endpoint.close,
  };
}

/** 2024-11-05 has another transport over HTTP, which is not served. */
export function overHttp({ legacy, modern }: ServedRevisions): ServedRevisions {
  return { legacy: legacy.filter((revision) => revision !== "2024-11-05"), modern };
}
