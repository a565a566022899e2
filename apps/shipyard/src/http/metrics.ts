import type { SessionCounts } from "@berth/code-sessions";
import { createCounter, createHistogram, familyText, type Sample } from "@berth/command-line/http";
import type { LeaseState } from "@berth/environment-leases";
import type { CallObserver } from "./calls.js";

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

export function createMetrics(): Metrics {
  const calls = createCounter();
  const durations = createHistogram("shipyard_call_seconds", "Duration of calls that were run.", bounds);
  return {
    called(door, status, seconds) {
      calls.add({ door, status });
      if (status !== "refused") durations.observe({ door }, seconds);
    },
    write({ counts, restricted, leases }) {
      const leaseRows = Object.entries(leases).map(([state, count]): Sample => [{ state }, count]);
      return [
        familyText("shipyard_calls_total", "counter", "Calls of code, by door and how they ended.", calls.samples()),
        durations.text(),
        familyText("shipyard_sessions", "gauge", "Living named sessions.", [[{}, counts.sessions]]),
        familyText(
          "shipyard_restricted_sessions",
          "gauge",
          "Of these, started while their uploads were over the limit.",
          [[{}, restricted]],
        ),
        familyText("shipyard_sessionless_calls", "gauge", "Calls without a session.", [
          [{ state: "running" }, counts.sessionless],
          [{ state: "queued" }, counts.sessionlessQueued],
        ]),
        familyText("shipyard_warm_workers", "gauge", "Workers without an owner.", [
          [{ state: "ready" }, counts.warm],
          [{ state: "starting" }, counts.warming],
        ]),
        familyText("shipyard_leases", "gauge", "Leases that are kept, by state.", leaseRows),
      ].join("");
    },
  };
}
