import { chmodSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { ConfinementError } from "../errors.js";
import type { EgressOptions, EgressProxy } from "./egress.js";
import { type EgressTerms, readEgressOptions } from "./egress-terms.js";
import { isPublicAddress } from "./public-address.js";
import { createReach } from "./reach.js";
import { type EgressContext, serveClient } from "./serve-client.js";

/**
 * Starts a proxy that a sandbox reaches through its socket: HTTP CONNECT, plain HTTP and SOCKS5, to hosts and ports that are
 * allowed, at public addresses only. The caller closes it.
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID`, `EGRESS_RULE_INVALID`, `EGRESS_SOCKET_FAILED`.
 */
export function createEgressProxy(options: EgressOptions): Promise<EgressProxy> {
  return startEgressProxy(options, isPublicAddress);
}

/** As `createEgressProxy`, with another check of addresses: for tests of this package, whose servers listen on the loopback. */
export async function startEgressProxy(
  options: EgressOptions,
  isAllowedAddress: (address: string) => boolean,
): Promise<EgressProxy> {
  const terms = readEgressOptions(options);
  terms.signal?.throwIfAborted();
  const clients = new Set<Socket>();
  const accept = createAccept(clients, { terms, reach: createReach(terms, isAllowedAddress) });
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, accept);
  await listen(server, terms);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeAll(server, clients));
  if (terms.signal?.aborted) {
    await close();
    terms.signal.throwIfAborted();
  }
  return {
    socket: terms.socket,
    get connections() {
      return clients.size;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function createAccept(clients: Set<Socket>, context: EgressContext): (client: Socket) => void {
  let full = false;
  return (client) => {
    if (clients.size >= context.terms.bounds.maxConnections) {
      client.on("error", () => {}).destroy();
      if (!full) tellFull(context.terms);
      full = true; // told once until one is served again: who knocks must not fill the log
      return;
    }
    full = false;
    clients.add(client);
    client.once("close", () => clients.delete(client));
    void serveClient(client, context);
  };
}

function tellFull({ tell }: EgressTerms): void {
  try {
    const outcome = "refused" as const;
    tell({ protocol: "unknown", host: "", port: 0, outcome, reason: "LIMIT_REACHED", address: undefined });
  } catch {
    // The connection is ended already; the callback's fault is the host's to log.
  }
}

function listen(server: Server, terms: EgressTerms): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => {
      server.close();
      const cure = "make the folder, and remove the file if no proxy uses it";
      const message = `cannot listen at ${terms.socket}: ${cause instanceof Error ? cause.message : String(cause)}`;
      reject(new ConfinementError("EGRESS_SOCKET_FAILED", message, { cause, field: "socket", cure }));
    };
    server.once("error", fail).listen(terms.socket, () => {
      server.off("error", fail).on("error", () => {}); // accept failures (EMFILE) pass: the next client is served
      try {
        chmodSync(terms.socket, 0o600);
        resolve();
      } catch (cause) {
        fail(cause);
      }
    });
  });
}

function closeAll(server: Server, clients: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const client of clients) client.destroy();
  });
}
