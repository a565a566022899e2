import type { Sessions } from "@berth/code-sessions";
import type { BodyReader } from "@berth/command-line/http";
import type { RunCode } from "../calls.js";
import type { Metrics } from "../metrics.js";
import type { DoorsParts, DoorTerms } from "../parts.js";

/** What the routes work with. */
export interface RestParts {
  readonly version: string;
  readonly sessions: Sessions;
  readonly leases: DoorsParts["leases"];
  readonly runCode: RunCode;
  readonly metrics: Metrics;
  readonly terms: DoorTerms;
  readonly bodies: BodyReader;
  readonly onFault: (fault: unknown) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}
