import type { RelayEvent } from "../relay-event.js";
import type { RelayNotice, RelayOptions, RelaySession } from "../relay-options.js";
import { readRelayTerms } from "../relay-terms.js";
import { createUpstream, type UpstreamContext } from "../upstream/upstream.js";
import { createCallTable } from "./call-table.js";
import { createClientSide } from "./client-side.js";
import { createResourceFinder } from "./find-resource.js";
import { createFront } from "./front.js";
import { createHandshake } from "./initialize.js";
import { createLogging } from "./logging.js";
import { createOffers } from "./offers.js";
import { passNotification } from "./server-notices.js";
import { createServerRequests } from "./server-requests.js";
import type { SessionParts } from "./session-parts.js";
import { createTaskOwners } from "./task-owners.js";

/**
 * Serves one client over its transport: MCP 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05. Nothing is started before the client needs
 * it; every server gets a child of this session's own. The session owns `downstream` and all connections; it ends when the client does.
 *
 * @throws {RelayError} `OPTIONS_INVALID`, `SERVER_NAME_INVALID`, `SERVER_NAMES_AMBIGUOUS`.
 */
export function createRelaySession(options: RelayOptions): RelaySession {
  const terms = readRelayTerms(options);
  const { downstream } = options;
  let callCount = 0;
  let closing: Promise<void> | undefined;
  let settleClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    settleClosed = resolve;
  });

  const notice = (said: RelayNotice): void => options.onNotice?.(said);
  const record = (event: RelayEvent): undefined | Promise<unknown> => {
    const recorded = recordSafely(options, event);
    if (event.type !== "call.intent") {
      recorded?.catch((error: unknown) => notice({ code: "NOT_RECORDED", message: `${event.type}: ${String(error)}` }));
    }
    return recorded;
  };

  const client = createClientSide({
    transport: downstream,
    pauseAboveBytes: terms.limits.pauseAboveBytes,
    onPause: (paused) => {
      for (const { live } of upstreams) live?.peer.pause(paused);
    },
    onStuck: () => {
      notice({ code: "CLIENT_NOT_READING", message: "the client does not read what it is sent; the session ends" });
      void close();
    },
    onNotice: notice,
  });
  const calls = createCallTable({ client, maxPendingCalls: terms.limits.maxPendingCalls, advise: options.advise });
  const tasks = createTaskOwners();
  const offers = createOffers();
  const requests = createServerRequests({ client, tasks, maxServerRequests: terms.limits.maxServerRequests });
  const handshake = createHandshake(options.serverInfo);
  const logging = createLogging();

  const context: UpstreamContext = {
    scheduler: terms.scheduler,
    observe: terms.observe,
    limits: terms.limits,
    openUpstream: options.openUpstream,
    hello(id) {
      if (handshake.hello === undefined) throw new Error("no child is started before initialize");
      return handshake.hello.frame(id);
    },
    onReady: (child) => logging.apply(child),
    onRequest: (child, frame, envelope) => requests.forward(child, frame, envelope),
    onNotification: (child, frame, envelope) => passNotification(session, requests, child, frame, envelope),
    onGone: (child) => requests.drop(child),
    onListed: (child, kind, list) => offers.note(child.server, kind, list.byName.keys()),
    record: (event) => void record(event),
    onFault: (fault) => options.onFault?.(fault),
    onNotice: notice,
  };
  const upstreams = terms.servers.map((server) => createUpstream(server, context));
  const session: SessionParts = {
    terms,
    upstreams,
    client,
    calls,
    offers,
    tasks,
    record,
    notice,
    nextCallId() {
      callCount += 1;
      return String(callCount);
    },
  };

  const close = (): Promise<void> => {
    closing ??= (async () => {
      await Promise.all(upstreams.map((upstream) => upstream.close()));
      await downstream.close();
      settleClosed();
    })();
    return closing;
  };

  const finder = createResourceFinder(session);
  downstream.start(createFront({ session, handshake, requests, finder, logging, onClose: () => void close() }));
  return {
    closed,
    close,
    status: () => upstreams.map((upstream) => upstream.status()),
    [Symbol.asyncDispose]: close,
  };
}

/** A recorder that throws is one whose promise rejects. */
function recordSafely(options: RelayOptions, event: RelayEvent): undefined | Promise<unknown> {
  try {
    return options.record(event);
  } catch (error) {
    return Promise.reject(error);
  }
}
