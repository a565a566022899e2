import type { RelayEvent } from "../relay-event.js";
import type { RelayNotice } from "../relay-options.js";
import type { RelayTerms } from "../relay-terms.js";
import type { Upstream } from "../upstream/upstream.js";
import type { CallTable } from "./call-table.js";
import type { ClientSide } from "./client-side.js";
import type { Offers } from "./offers.js";
import type { TaskOwners } from "./task-owners.js";

/** What the parts of one session share. */
export interface SessionParts {
  readonly terms: RelayTerms;
  /** In catalog order. */
  readonly upstreams: readonly Upstream[];
  readonly client: ClientSide;
  readonly calls: CallTable;
  readonly offers: Offers;
  readonly tasks: TaskOwners;
  /** Unique within the session. */
  nextCallId(): string;
  /** Hands an event over; a promise is durability that a call's intent waits for. */
  record(event: RelayEvent): undefined | Promise<unknown>;
  notice(notice: RelayNotice): void;
}
