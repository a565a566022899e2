import type { Scheduler } from "@berth/jsonrpc-framing";
import type { LegacyRevision } from "../../revisions.js";
import type { McpServer } from "../../server/create-server.js";
import type { HttpBounds } from "../limits.js";
import type { EventStore } from "./event-store.js";
import type { SessionLimits } from "./limits.js";

/** How sessions are kept (MCP 2025-03-26 to 2025-11-25). */
export interface SessionOptions {
  /** Lets clients resume streams, and handlers let go of them. Absent: nothing is kept, and events have no ids. */
  readonly eventStore?: EventStore | undefined;
  readonly limits?: SessionLimits | undefined;
  /**
   * `json`: an answer is one JSON object where nothing was sent in its course. `stream`: each answer to a request is a stream of one event or more, for
   * clients that read nothing else. Default `json`.
   */
  readonly answers?: "json" | "stream" | undefined;
}

/** What `createLegacySide` accepts. */
export interface LegacySideOptions<P> {
  readonly server: McpServer<P>;
  /** What `initialize` may settle on, newest first: those that have Streamable HTTP. */
  readonly revisions: readonly LegacyRevision[];
  /** How streams are kept alive, and how long a client may take nothing of one. */
  readonly streams: Pick<HttpBounds, "keepAliveMs" | "deliveryMs">;
  readonly sessions?: SessionOptions | undefined;
  /** Told what a handler or the event store threw that is no answer; the client got -32603. Must not throw. */
  readonly onUnexpectedError: (error: unknown) => void;
  /** Default: Node's timers. */
  readonly scheduler?: Scheduler | undefined;
  /** For session ids. Default: Node's. */
  readonly randomBytes?: ((size: number) => Uint8Array) | undefined;
}
