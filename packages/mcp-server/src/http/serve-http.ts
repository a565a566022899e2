import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { logToStderr } from "../log-to-stderr.js";
import { aFlag, anObject, aText, kind, type OptionKinds, optional } from "../option-check.js";
import { tell } from "../tell.js";
import { within } from "../within.js";
import { type HttpHandler, openHandler } from "./handler.js";
import { type ListeningBounds, type ListeningLimits, readHttpBounds, readListeningBounds } from "./limits.js";
import { checkHttpOptions, defaultPath, type HttpHandlerOptions } from "./options.js";

/** What `serveHttp` accepts. */
export type ServeHttpOptions<P> = HttpHandlerOptions<P> & ListeningOptions;

/** Where to listen. */
export interface ListeningOptions {
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Default 0: any that is free. */
  readonly port?: number | undefined;
  /** Serves anybody who can reach an address that others can reach: for where something else keeps strangers out. Default false. */
  readonly allowUnauthenticated?: boolean | undefined;
  readonly listening?: ListeningLimits | undefined;
}

/** A server that listens. */
export interface HttpServer extends AsyncDisposable {
  /** Of the endpoint. */
  readonly url: string;
  readonly port: number;
  /** Open sessions of clients that opened with `initialize`. */
  readonly sessionCount: number;
  /** Listens no more, ends what is open as `HttpHandler.close` does, gives clients `drainMs` to read it, and closes all connections. May be called again. */
  close(): Promise<void>;
}

/**
 * Listens, by default where only this machine can connect. Rejects when the address cannot be had.
 * @throws {TypeError} for an address that others can reach without an `admitter`, and as `createHttpHandler`.
 */
export async function serveHttp<P>(options: ServeHttpOptions<P>): Promise<HttpServer> {
  checkHttpOptions(options, listeningOptions);
  const { host = "127.0.0.1", port = 0, path = defaultPath, logger = logToStderr } = options;
  if (!isLoopback(host) && options.admitter === undefined && options.allowUnauthenticated !== true) {
    throw new TypeError(
      `host ${host} can be reached from elsewhere and there is no admitter: give one, or set allowUnauthenticated`,
    );
  }
  const listening = readListeningBounds(options.listening);
  const bounds = readHttpBounds(options.limits);
  const handler = openHandler(options, bounds);
  const server = listenFor(handler, listening, bounds.bodyMs);
  const unused = unusedOf(server);
  await listen(server, host, port);
  if (!isLoopback(host) && options.allowedHosts === undefined) {
    tell(
      logger,
      `others can connect to ${host}, but only localhost, 127.0.0.1 and [::1] are served: name the others in allowedHosts`,
    );
  }
  server.on("error", (error) => tell(logger, "a connection could not be accepted", error));
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address : { address: host, port };
  const end = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    await handler.close();
    for (const socket of unused) socket.destroy();
    const sweep = setInterval(() => server.closeIdleConnections(), sweepMs);
    server.closeIdleConnections();
    await within(bounds.drainMs, closed);
    clearInterval(sweep);
    server.closeAllConnections();
    await closed;
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= end());
  return {
    url: `http://${named(bound)}:${bound.port}${path}`,
    port: bound.port,
    get sessionCount() {
      return handler.sessionCount;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

const listeningOptions = {
  host: optional(aText),
  port: optional(kind("a whole number from 0 to 65535", isPort)),
  allowUnauthenticated: optional(aFlag),
  listening: optional(anObject),
} as const satisfies OptionKinds<ListeningOptions>;

function isPort(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 65_535;
}

/** How often connections are looked for that have become idle while the server closes. */
const sweepMs = 10;

function listenFor(handler: HttpHandler, limits: ListeningBounds, bodyMs: number): Server {
  const server = createServer({
    headersTimeout: limits.headersMs,
    // Bodies have their own limit, with an answer; this one is for what is read after a refusal.
    requestTimeout: limits.headersMs + 2 * bodyMs,
    connectionsCheckingInterval: Math.min(limits.headersMs, 1_000),
    keepAliveTimeout: limits.idleMs,
    maxHeaderSize: limits.maxHeaderBytes,
    noDelay: true,
  });
  server.maxConnections = limits.maxConnections;
  // Node leaves out those after the 2,000th, which an `Origin` could hide behind: their bytes bound them.
  server.maxHeadersCount = 0;
  return server.on("request", handler.node);
}

/**
 * Connections that have not sent a request: nothing is owed to them, but Node does not count them as idle. Clients open some ahead, and Node's `fetch`
 * one for each request that it aborts.
 */
function unusedOf(server: Server): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  server.on("request", ({ socket }) => unused.delete(socket));
  return unused;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function named({ address, family }: Pick<AddressInfo, "address"> & Partial<AddressInfo>): string {
  return family === "IPv6" ? `[${address}]` : address;
}
