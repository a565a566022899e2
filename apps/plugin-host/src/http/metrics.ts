import { createCounter, createHistogram, familyText, type Sample } from "@berth/command-line/http";
import type { HookExecution } from "@berth/venv-host/executor";

/** Told how each hook went. */
export interface HookObserver {
  ran(hook: string, outcome: HookResult, seconds: number, executions: readonly HookExecution[]): void;
}

/** Told what came of each request to the MCP half of a process plugin. */
export interface CallObserver {
  called(plugin: string, outcome: string, method: string): void;
}

export type HookResult = "allowed" | "denied" | "failed";

/** What is told beside what was counted. */
export interface Gauges {
  readonly plugins: readonly {
    readonly plugin: string;
    readonly state: string;
    readonly process?: { readonly state: string; readonly crashes: number } | undefined;
  }[];
}

/** Figures of this process, in the text form of Prometheus (version 0.0.4). */
export interface Metrics extends HookObserver, CallObserver {
  write(gauges: Gauges): string;
}

const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics(): Metrics {
  const hooks = createCounter();
  const executions = createCounter();
  const calls = createCounter();
  const requests = createCounter();
  const durations = createHistogram(
    "plugin_host_hook_seconds",
    "Duration of hooks, all their plugins together.",
    bounds,
  );
  return {
    ran(hook, outcome, seconds, ran) {
      hooks.add({ hook, outcome });
      for (const { plugin, status } of ran) executions.add({ plugin, hook, status });
      durations.observe({ hook }, seconds);
    },
    called(plugin, outcome, method) {
      if (method === "tools/call") calls.add({ plugin, outcome });
      else requests.add({ plugin, method, outcome });
    },
    write({ plugins }) {
      const states = ["ready", "idle", "failed"].map(
        (state): Sample => [{ state }, plugins.filter((plugin) => plugin.state === state).length],
      );
      return [
        familyText(
          "plugin_host_hooks_total",
          "counter",
          "Hooks that were asked for, and what came of them.",
          hooks.samples(),
        ),
        durations.text(),
        familyText(
          "plugin_host_executions_total",
          "counter",
          "What single plugins did in hooks.",
          executions.samples(),
        ),
        familyText(
          "plugin_host_tool_calls_total",
          "counter",
          "Calls of tools of process plugins, and what came of them.",
          calls.samples(),
        ),
        familyText(
          "plugin_host_mcp_requests_total",
          "counter",
          "Prompts, resources and completions that process plugins were asked for, and what came of them.",
          requests.samples(),
        ),
        familyText("plugin_host_plugins", "gauge", "Plugins, by state.", states),
        ...processFamilies(plugins),
      ].join("");
    },
  };
}

/** Of process plugins, where there are any. */
function processFamilies(plugins: Gauges["plugins"]): readonly string[] {
  const held = plugins.flatMap(({ plugin, process }) => (process === undefined ? [] : [{ plugin, ...process }]));
  if (held.length === 0) return [];
  const standings = held.map(({ plugin, state }): Sample => [{ plugin, state }, 1]);
  const crashes = held.map(({ plugin, crashes: count }): Sample => [{ plugin }, count]);
  return [
    familyText("plugin_host_process_state", "gauge", "1 for the state that a process plugin is in.", standings),
    familyText(
      "plugin_host_process_crashes",
      "gauge",
      "Ends of a process plugin's own within the last minute.",
      crashes,
    ),
  ];
}
