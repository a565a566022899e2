import type { RelayOptions, RelaySession } from "../relay-options.js";
import { readRelayTerms } from "../relay-terms.js";
import { createResourceFinder } from "./find-resource.js";
import { createFront } from "./front.js";
import { createHandshake } from "./initialize.js";
import { createLogging } from "./logging.js";
import { createSessionParts } from "./session-parts.js";

/**
 * Serves one client over its transport: MCP 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05. Nothing is started before the client needs
 * it; every server gets a child of this session's own. The session owns `downstream` and all connections; it ends when the client does.
 *
 * @throws {RelayError} `OPTIONS_INVALID`, `SERVER_NAME_INVALID`, `SERVER_NAMES_AMBIGUOUS`.
 */
export function createRelaySession(options: RelayOptions): RelaySession {
  const terms = readRelayTerms(options);
  const { downstream } = options;
  let closing: Promise<void> | undefined;
  let settleClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    settleClosed = resolve;
  });
  const endAll = async (): Promise<void> => {
    try {
      session.intercepting?.close();
      await Promise.all(session.upstreams.map((upstream) => upstream.close()));
      await downstream.close();
    } finally {
      settleClosed();
    }
  };
  const close = (): Promise<void> => {
    closing ??= endAll();
    return closing;
  };

  const handshake = createHandshake(options.serverInfo);
  const logging = createLogging();
  const session = createSessionParts(options, terms, {
    hello: (id) => handshake.helloFrame(id),
    onIntroduced: (child) => handshake.passOn(session, child),
    onReady: (child) => logging.apply(child),
    onStuck: () => void close(),
  });
  const finder = createResourceFinder(session);
  downstream.start(createFront({ session, handshake, finder, logging, onClose: () => void close() }));
  return {
    closed,
    close,
    status: () => session.upstreams.map((upstream) => upstream.status()),
    [Symbol.asyncDispose]: close,
  };
}
