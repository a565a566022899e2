import type { SessionEntry } from "@berth/audit-chain";
import type { HookOutcome, HookRequest, PluginHost } from "@berth/venv-host/executor";
import { hookEntry } from "../audit/audit-entries.js";
import type { HookObserver } from "../http/metrics.js";

/** Where a request came from. */
export interface Asker {
  readonly principal: string;
  readonly door: "command" | "stdio" | "http" | "mcp";
}

/** Runs a hook and writes down what came of it, before the answer is given. */
export type AskHook = (asker: Asker, request: HookRequest) => Promise<HookOutcome>;

export interface AskHookParts {
  readonly host: Pick<PluginHost, "run" | "hasHook">;
  readonly audit: { append(entry: SessionEntry): Promise<unknown> };
  readonly observer?: HookObserver | undefined;
}

export function createAskHook({ host, audit, observer }: AskHookParts): AskHook {
  return async ({ principal, door }, request) => {
    const begun = performance.now();
    const about = { hook: request.hook, principal, door };
    // A client can make up names without end: figures have those of plugins.
    const counted = host.hasHook(request.hook) ? request.hook : "other";
    try {
      const outcome = await host.run(request);
      const { allowed, violation, carried } = outcome;
      const said = allowed ? "allowed" : "denied";
      await audit.append(
        hookEntry({
          ...about,
          request: carried.requestId,
          outcome: said,
          plugin: violation?.plugin,
          code: violation?.code,
        }),
      );
      observer?.ran(counted, said, (performance.now() - begun) / 1_000, outcome.executions);
      return outcome;
    } catch (error) {
      observer?.ran(counted, "failed", (performance.now() - begun) / 1_000, []);
      throw error;
    }
  };
}
