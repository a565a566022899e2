import type { SessionCounts } from "@berth/code-sessions";
import type { LeaseState } from "@berth/environment-leases";
import type { CallObserver, Door } from "./calls.js";

/** What is told beside what was counted. */
export interface Gauges {
  readonly counts: SessionCounts;
  /** Living named sessions in which nothing can be written: `GET /v1/leases` says whose. */
  readonly restricted: number;
  readonly leases: Readonly<Record<LeaseState, number>>;
}

/** Figures of this process, in the text form of Prometheus (version 0.0.4). */
export interface Metrics extends CallObserver {
  write(gauges: Gauges): string;
}

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600];

interface Histogram {
  readonly buckets: number[];
  sum: number;
  count: number;
}

export function createMetrics(): Metrics {
  const calls = new Map<string, { readonly labels: string; count: number }>();
  const durations = new Map<Door, Histogram>();

  return {
    called(door, status, seconds) {
      const labels = `door="${door}",status="${status}"`;
      const counter = calls.get(labels) ?? { labels, count: 0 };
      calls.set(labels, counter);
      counter.count += 1;
      if (status === "refused") return;
      const histogram = durations.get(door) ?? { buckets: bounds.map(() => 0), sum: 0, count: 0 };
      durations.set(door, histogram);
      histogram.sum += seconds;
      histogram.count += 1;
      bounds.forEach((bound, at) => {
        if (seconds <= bound) histogram.buckets[at] = (histogram.buckets[at] ?? 0) + 1;
      });
    },
    write({ counts, restricted, leases }) {
      const callRows = [...calls.values()].map(({ labels, count }) => [labels, count] as const);
      const leaseRows = Object.entries(leases).map(([state, count]) => [`state="${state}"`, count] as const);
      return [
        family("shipyard_calls_total", "counter", "Calls of code, by door and how they ended.", callRows),
        histogramText(durations),
        family("shipyard_sessions", "gauge", "Living named sessions.", [["", counts.sessions]]),
        family("shipyard_restricted_sessions", "gauge", "Of these, started while their uploads were over the limit.", [
          ["", restricted],
        ]),
        family("shipyard_sessionless_calls", "gauge", "Calls without a session.", [
          ['state="running"', counts.sessionless],
          ['state="queued"', counts.sessionlessQueued],
        ]),
        family("shipyard_warm_workers", "gauge", "Workers without an owner.", [
          ['state="ready"', counts.warm],
          ['state="starting"', counts.warming],
        ]),
        family("shipyard_leases", "gauge", "Leases that are kept, by state.", leaseRows),
      ].join("");
    },
  };
}

type Row = readonly [labels: string, value: number];

function family(name: string, type: "counter" | "gauge", help: string, rows: readonly Row[]): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${rows.map((row) => sample(name, row)).join("")}`;
}

function sample(name: string, [labels, value]: Row): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`;
}

function histogramText(durations: ReadonlyMap<Door, Histogram>): string {
  const name = "shipyard_call_seconds";
  let text = `# HELP ${name} Duration of calls that were run.\n# TYPE ${name} histogram\n`;
  for (const [door, { buckets, sum, count }] of durations) {
    const rows = bounds.map((bound, at): Row => [`door="${door}",le="${bound}"`, buckets[at] ?? 0]);
    rows.push([`door="${door}",le="+Inf"`, count]);
    text += rows.map((row) => sample(`${name}_bucket`, row)).join("");
    text += sample(`${name}_sum`, [`door="${door}"`, sum]) + sample(`${name}_count`, [`door="${door}"`, count]);
  }
  return text;
}
