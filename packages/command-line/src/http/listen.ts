import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { CommandError, type CommandErrorOptions, exitCodes } from "../errors.js";
import { type HttpAddress, isLoopback } from "./http-address.js";

/** A server that listens. */
export interface Listening {
  /** Without a path. */
  readonly url: string;
  /** Listens no more; connections that have nothing under way are closed, the others after `drainMs`. */
  close(drainMs: number): Promise<void>;
}

/** What `listen` takes. */
export interface ListenOptions {
  readonly address: HttpAddress;
  /** For each request. It must answer, and not throw. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => unknown;
  /** Above: closed at once. */
  readonly maxConnections: number;
  /** Whether strangers are kept out: else the address that was really bound has to be this machine's own. */
  readonly authenticated: boolean;
}

const headersMs = 10_000;
const bodyMs = 60_000;
const idleMs = 5_000;
const sweepMs = 25;

/**
 * Listens for HTTP: 10 s for a request's head, 60 s more for its body, 5 s between two; every header counts.
 * @throws {CommandError} `LISTEN_FAILED`.
 */
export async function listen({ address, handle, maxConnections, authenticated }: ListenOptions): Promise<Listening> {
  const times = { headersTimeout: headersMs, requestTimeout: headersMs + bodyMs, keepAliveTimeout: idleMs };
  const server = createServer(times, handle);
  server.maxConnections = maxConnections;
  server.maxHeadersCount = 0; // Node would leave out those after the 2,000th, and an Origin could hide behind them
  const bound = await bind(server, address);
  if (!authenticated && !isLoopback(bound.host)) {
    server.close();
    const message = `${address.host} is ${bound.host}, which others can reach, and no authentication is configured`;
    throw listenFailed(message);
  }
  const host = bound.host.includes(":") ? `[${bound.host}]` : bound.host;
  return { url: `http://${host}:${bound.port}`, close: (drainMs) => end(server, drainMs) };
}

const otherPort = "another program listens there; --http HOST:PORT names another place, and port 0 any that is free";

function bind(server: Server, { host, port }: HttpAddress): Promise<HttpAddress> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => {
      const lines = "code" in cause && cause.code === "EADDRINUSE" ? [otherPort] : [];
      reject(listenFailed(`cannot listen on ${host}:${port}`, { cause, lines }));
    });
    server.listen(port, host, () => {
      const found = server.address();
      if (typeof found === "object" && found !== null) resolve({ host: found.address, port: found.port });
      else reject(listenFailed(`cannot listen on ${host}:${port}`));
    });
  });
}

function listenFailed(message: string, options?: CommandErrorOptions): CommandError {
  return new CommandError("LISTEN_FAILED", exitCodes.failed, message, options);
}

/** Node does not close by itself what is kept alive and becomes idle later. */
async function end(server: Server, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  const sweep = setInterval(() => server.closeIdleConnections(), sweepMs);
  const cut = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
