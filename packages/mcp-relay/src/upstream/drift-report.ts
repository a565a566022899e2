import { createHash } from "node:crypto";
import type { DriftSeen, RelayEvent } from "../relay-event.js";
import type { RelayNotice } from "../relay-options.js";

/** Differences that are recorded of one child: one that invents tools without end must not fill the log. */
const maxDrift = 256;

/** Records a difference once. */
export type ReportDrift = (drift: Omit<DriftSeen, "type" | "server" | "observed">) => void;

/** Who hears of differences. */
export interface DriftReportOptions {
  readonly server: string;
  readonly observe: boolean;
  record(event: RelayEvent): void;
  onNotice(notice: RelayNotice): void;
}

/** Nothing reported yet. */
export function createDriftReport({ server, observe, record, onNotice }: DriftReportOptions): ReportDrift {
  /** By digest: names are as long as the server likes. */
  const reported = new Set<string>();
  return (drift) => {
    if (reported.size > maxDrift) return;
    const key = createHash("sha256").update(JSON.stringify(drift)).digest("base64");
    if (reported.has(key)) return;
    reported.add(key);
    if (reported.size <= maxDrift) record({ type: "drift", server, observed: observe, ...drift });
    else {
      const message = `more than ${maxDrift} differences; the rest is not recorded`;
      onNotice({ code: "DRIFT_WITHOUT_END", server, message });
    }
  };
}
