import type { Scheduler } from "@berth/jsonrpc-framing";
import type { Transport } from "@berth/stdio-transport";
import type { OpenUpstream, UpstreamEvidence } from "./connection.js";
import type { Interceptor } from "./interception.js";
import type { NameStyle } from "./names.js";
import type { RelayEvent } from "./relay-event.js";
import type { ServerPolicy } from "./server-policy.js";
import type { FaultSubject } from "./wire-errors.js";

/** What a relay session is made of: one client, its servers, and the functions that start and record. */
export interface RelayOptions {
  /** The client's side, not started yet. The session closes it when it ends. */
  readonly downstream: Transport;
  /** In catalog order, which decides between servers that offer the same resource. At least one. */
  readonly servers: readonly ServerPolicy[];
  readonly openUpstream: OpenUpstream;
  /**
   * Called in the order in which things happen. When it returns a promise for a `call.intent`, the call leaves only after that; a rejection
   * refuses the call. For other events a rejection is a notice.
   */
  record(event: RelayEvent): undefined | Promise<unknown>;
  /** Default `prefixed`. */
  readonly names?: NameStyle | undefined;
  /** Let differences from the pins through, recorded. Default false. */
  readonly observe?: boolean | undefined;
  /** What to do with a server of which no tool was ever pinned. `show` (default) passes everything, its events say `unpinned`; `hide` passes nothing. */
  readonly unpinned?: "show" | "hide" | undefined;
  /**
   * With exactly one server: start it at `initialize` and give its own answer. When it cannot be started, what is pinned is answered instead,
   * and without pins the refusal. Default false.
   */
  readonly passThroughInitialize?: boolean | undefined;
  /** The gateway's own `serverInfo`, given when there is not exactly one server with a pinned one. */
  readonly serverInfo: { readonly name: string; readonly version: string };
  /** Faults of a child's stream, for the operator only. */
  onFault?(fault: UpstreamFault): void;
  /** Things an operator wants to know that are no fault of a stream. */
  onNotice?(notice: RelayNotice): void;
  /** How to get out of a refusal, appended to its text; undefined keeps the relay's own sentence, which names the catalog key. */
  advise?(refusal: FaultSubject): string | undefined;
  /** Looks into calls on their way, and may change or refuse them. Without one, no payload is read. */
  readonly interceptor?: Interceptor | undefined;
  readonly limits?: RelayLimits | undefined;
  /** Default: `performance.now` and `setTimeout`. */
  readonly scheduler?: Scheduler | undefined;
}

/** Bounds of one session. */
export interface RelayLimits {
  /** Client requests without an answer, 1 to 65_536. Default 1_024. */
  readonly maxPendingCalls?: number | undefined;
  /** Bytes of client requests that have not left for their server yet, 1 KiB to 4 GiB. Default 64 MiB. One alone is never too large. */
  readonly maxPendingBytes?: number | undefined;
  /** Requests of one server to the client without an answer, 1 to 4_096. Default 256. */
  readonly maxServerRequests?: number | undefined;
  /** Pages of one list of one server, 1 to 10_000. Default 100. */
  readonly maxListPages?: number | undefined;
  /** Bytes of one list of one server, over all pages, 1 KiB to 256 MiB. Default 16 MiB. */
  readonly maxListBytes?: number | undefined;
  /** Bytes waiting for the client above which its servers are not read until it catches up, 1 KiB to 1 GiB. Default 8 MiB. */
  readonly pauseAboveBytes?: number | undefined;
  /** For an interceptor's word on one request or result, in milliseconds, 1 to 86_400_000. Default 300_000. */
  readonly interceptMs?: number | undefined;
  /** Bytes of answers that wait for an interceptor, above which servers are not read, 1 KiB to 4 GiB. Default 64 MiB. */
  readonly maxHeldBytes?: number | undefined;
}

/** A fault of a child's stream. The excerpt is escaped, at most 200 characters, and never goes to a client or a log of calls. */
export interface UpstreamFault {
  readonly server: string;
  /** Code of the framing error, or `FOREIGN_RESPONSE`. */
  readonly code: string;
  readonly message: string;
  /** Byte offset of the line in the child's output. */
  readonly offset: number;
  readonly excerpt: string;
  readonly action: "ended" | "dropped";
  /** How many of this code came from this child. After sixteen only those are told whose number is a power of two. */
  readonly count: number;
}

/** Something for the operator's log. */
export interface RelayNotice {
  readonly code: string;
  readonly server?: string | undefined;
  readonly message: string;
  /** How many of this code there were from this server. After sixteen only those are told whose number is a power of two. */
  readonly count?: number | undefined;
}

/** One client session over its servers. */
export interface RelaySession extends AsyncDisposable {
  /** Settles when the session is over and every child of it is gone; never rejects. */
  readonly closed: Promise<void>;
  /** What each server is doing, in catalog order. */
  status(): readonly UpstreamStatus[];
  /** Ends the session: pending calls get an outcome, children end in stages. May be called again. */
  close(): Promise<void>;
}

/** What one server of a session is doing. */
export interface UpstreamStatus {
  readonly server: string;
  readonly state: "idle" | "starting" | "ready" | "gone";
  /** Of the present child. */
  readonly evidence?: UpstreamEvidence | undefined;
  /** Why the last child, or the last attempt, ended. */
  readonly lastReason?: string | undefined;
  /** Children started in this session. */
  readonly starts: number;
  readonly pendingCalls: number;
}
