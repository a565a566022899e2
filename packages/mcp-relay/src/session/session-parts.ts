import type { RelayEvent } from "../relay-event.js";
import type { RelayNotice, RelayOptions } from "../relay-options.js";
import type { RelayTerms } from "../relay-terms.js";
import type { LiveChild } from "../upstream/child.js";
import { createThrottle } from "../upstream/throttle.js";
import { createUpstream, type Upstream, type UpstreamContext } from "../upstream/upstream.js";
import { type CallTable, createCallTable } from "./call-table.js";
import { type ClientSide, createClientSide } from "./client-side.js";
import { createIntercepting, type Intercepting } from "./intercepting.js";
import { createOffers, type Offers } from "./offers.js";
import { passNotification } from "./server-notices.js";
import { createServerRequests, type ServerRequests } from "./server-requests.js";
import { createTaskOwners, type TaskOwners } from "./task-owners.js";

/** What the parts of one session share. */
export interface SessionParts {
  readonly terms: RelayTerms;
  /** In catalog order. */
  readonly upstreams: readonly Upstream[];
  readonly client: ClientSide;
  readonly calls: CallTable;
  readonly requests: ServerRequests;
  readonly offers: Offers;
  readonly tasks: TaskOwners;
  /** Absent where nothing looks into calls. */
  readonly intercepting: Intercepting | undefined;
  /** Unique within the session. */
  nextCallId(): string;
  /** Hands an event over; a promise is durability that a call's intent waits for. */
  record(event: RelayEvent): undefined | Promise<unknown>;
  notice(notice: RelayNotice): void;
}

/** What the parts ask of the session itself. */
export interface SessionHooks {
  hello(id: number): Uint8Array;
  onIntroduced(child: LiveChild): void;
  onReady(child: LiveChild): void;
  /** The client does not read, and memory for it is used up. */
  onStuck(): void;
}

/** Builds the parts and joins them. Nothing is started or read. */
export function createSessionParts(options: RelayOptions, terms: RelayTerms, hooks: SessionHooks): SessionParts {
  let callCount = 0;
  const notice = throttledNotices(options);
  const pause = createPause((paused) => {
    for (const upstream of session.upstreams) upstream.pause(paused);
  });
  const client = createClientSide({
    transport: options.downstream,
    pauseAboveBytes: terms.limits.pauseAboveBytes,
    onPause: (paused) => pause("client", paused),
    onStuck: () => {
      notice({ code: "CLIENT_NOT_READING", message: "the client does not read what it is sent; the session ends" });
      hooks.onStuck();
    },
    onNotice: notice,
  });
  const { maxPendingCalls, maxPendingBytes, maxServerRequests } = terms.limits;
  const tasks = createTaskOwners();
  const { interceptor } = options;
  const context = upstreamContext(options, terms, hooks, () => session);
  const session: SessionParts = {
    terms,
    upstreams: terms.servers.map((server) => createUpstream(server, context)),
    client,
    calls: createCallTable({ client, maxPendingCalls, maxPendingBytes, advise: options.advise }),
    requests: createServerRequests({ client, tasks, maxServerRequests }),
    offers: createOffers(),
    tasks,
    intercepting:
      interceptor &&
      createIntercepting({ interceptor, terms, onHeld: (held) => pause("held", held), onNotice: notice }),
    notice,
    record: (event) => recordEvent(options, event, notice),
    nextCallId() {
      callCount += 1;
      return String(callCount);
    },
  };
  return session;
}

/** Servers are read while nobody wants them not to be. */
function createPause(set: (paused: boolean) => void): (who: "client" | "held", paused: boolean) => void {
  const wanting = new Set<string>();
  return (who, paused) => {
    const before = wanting.size;
    if (paused) wanting.add(who);
    else wanting.delete(who);
    if (before === 0 || wanting.size === 0) set(wanting.size > 0);
  };
}

/** What children say goes to the parts; `parts` is a function because they are made together. */
function upstreamContext(
  options: RelayOptions,
  { scheduler, observe, limits }: RelayTerms,
  { hello, onIntroduced, onReady }: SessionHooks,
  parts: () => SessionParts,
): UpstreamContext {
  return {
    scheduler,
    observe,
    limits,
    openUpstream: options.openUpstream,
    hello,
    onIntroduced,
    onReady,
    onRequest: (child, frame, envelope) => parts().requests.forward(child, frame, envelope),
    onNotification: (child, frame, envelope) => passNotification(parts(), child, frame, envelope),
    onGone: (child) => parts().requests.drop(child),
    onListed: (child, kind, list) => parts().offers.note(child.server, kind, list.byName.keys()),
    record: (event) => void parts().record(event),
    onFault: (fault) => options.onFault?.(fault),
    onNotice: (notice) => parts().notice(notice),
  };
}

/** Notices of children have their count already; of the session's own, too, the first times and then ever fewer are told. */
function throttledNotices({ onNotice }: RelayOptions): (said: RelayNotice) => void {
  const told = createThrottle();
  return (said) => {
    if (said.count !== undefined) return onNotice?.(said);
    const { count, speak } = told(`${said.code} ${said.server ?? ""}`);
    if (speak) onNotice?.({ ...said, count });
  };
}

/** A recorder that throws is one whose promise rejects. Only a call's intent can be refused for it; for the rest the operator is told. */
function recordEvent(
  options: RelayOptions,
  event: RelayEvent,
  notice: (said: RelayNotice) => void,
): undefined | Promise<unknown> {
  let recorded: undefined | Promise<unknown>;
  try {
    recorded = options.record(event);
  } catch (error) {
    recorded = Promise.reject(error);
  }
  if (event.type !== "call.intent") {
    recorded?.catch((error: unknown) => notice({ code: "NOT_RECORDED", message: `${event.type}: ${String(error)}` }));
  }
  return recorded;
}
