import type { HookExecution } from "@berth/venv-host/executor";

/** Told how each hook went. */
export interface HookObserver {
  ran(hook: string, outcome: HookResult, seconds: number, executions: readonly HookExecution[]): void;
}

export type HookResult = "allowed" | "denied" | "failed";

/** What is told beside what was counted. */
export interface Gauges {
  readonly plugins: readonly { readonly state: string }[];
}

/** Figures of this process, in the text form of Prometheus (version 0.0.4). */
export interface Metrics extends HookObserver {
  write(gauges: Gauges): string;
}

const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

interface Histogram {
  readonly buckets: number[];
  sum: number;
  count: number;
}

export function createMetrics(): Metrics {
  const hooks = new Map<string, number>();
  const executions = new Map<string, number>();
  const durations = new Map<string, Histogram>();
  const count = (counts: Map<string, number>, labels: string): void => {
    counts.set(labels, (counts.get(labels) ?? 0) + 1);
  };
  return {
    ran(hook, outcome, seconds, ran) {
      count(hooks, `hook=${quoted(hook)},outcome="${outcome}"`);
      for (const { plugin, status } of ran) {
        count(executions, `plugin=${quoted(plugin)},hook=${quoted(hook)},status="${status}"`);
      }
      const histogram = durations.get(hook) ?? { buckets: bounds.map(() => 0), sum: 0, count: 0 };
      durations.set(hook, histogram);
      histogram.sum += seconds;
      histogram.count += 1;
      bounds.forEach((bound, at) => {
        if (seconds <= bound) histogram.buckets[at] = (histogram.buckets[at] ?? 0) + 1;
      });
    },
    write({ plugins }) {
      const states = new Map<string, number>(["ready", "idle", "failed"].map((state) => [`state="${state}"`, 0]));
      for (const { state } of plugins) count(states, `state="${state}"`);
      return [
        family("plugin_host_hooks_total", "counter", "Hooks that were asked for, and what came of them.", hooks),
        histogramText(durations),
        family("plugin_host_executions_total", "counter", "What single plugins did in hooks.", executions),
        family("plugin_host_plugins", "gauge", "Plugins, by state.", states),
      ].join("");
    },
  };
}

/** Names of plugins and hooks are an operator's, and may have anything in them. */
function quoted(value: string): string {
  return `"${value.replace(/[\\"]/gu, "\\$&").replaceAll("\n", "\\n")}"`;
}

function family(name: string, type: "counter" | "gauge", help: string, rows: ReadonlyMap<string, number>): string {
  const samples = [...rows].map(([labels, value]) => `${name}{${labels}} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.join("")}`;
}

function histogramText(durations: ReadonlyMap<string, Histogram>): string {
  const name = "plugin_host_hook_seconds";
  let text = `# HELP ${name} Duration of hooks, all their plugins together.\n# TYPE ${name} histogram\n`;
  for (const [hook, { buckets, sum, count }] of durations) {
    const label = `hook=${quoted(hook)}`;
    for (const [at, bound] of bounds.entries()) text += `${name}_bucket{${label},le="${bound}"} ${buckets[at] ?? 0}\n`;
    text += `${name}_bucket{${label},le="+Inf"} ${count}\n${name}_sum{${label}} ${sum}\n${name}_count{${label}} ${count}\n`;
  }
  return text;
}
