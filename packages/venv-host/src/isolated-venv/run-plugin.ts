import type { PluginHealth, RunningPlugin, WaitOptions } from "../executor/plugin-kind.js";
import type { Worker } from "../worker/worker.js";
import { type PluginAbout, rethrowExplained } from "./explain-failure.js";
import { readHookReply } from "./hook-reply.js";
import { createHookTask, secretsOf, type TaskFrame } from "./hook-task.js";
import type { PluginEnvironment } from "./isolated-venv-options.js";
import type { Lanes } from "./lanes.js";

/** What a plugin that was made ready consists of. */
export interface PluginParts {
  readonly lanes: Lanes;
  readonly frame: TaskFrame;
  readonly about: PluginAbout;
  readonly environment: PluginEnvironment;
  readonly evidence: RunningPlugin["evidence"];
}

/** Sends calls to the plugin's workers. The environment is let go when they have ended, whatever came of it. */
export function runPlugin({ lanes, frame, about, environment, evidence }: PluginParts): RunningPlugin {
  const endAll = async (): Promise<void> => {
    try {
      await lanes.close();
    } finally {
      await environment.close();
    }
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= endAll());
  return {
    evidence,
    call: (call, { signal }) =>
      lanes.use(call.hook, async (worker) => {
        const task = createHookTask(frame, call);
        const answer = await worker
          .call(task, { signal, secrets: secretsOf(call) })
          .catch((error: unknown) => rethrowExplained(error, about));
        return readHookReply(answer, call.hook);
      }),
    health: (wait) => healthOf(lanes.workers, wait),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A worker that runs is well, also while a hook keeps it busy; one that ended is started anew, as a call would do. */
async function healthOf(workers: readonly Worker[], wait: WaitOptions): Promise<PluginHealth> {
  for (const worker of workers) {
    if (worker.state === "running") continue;
    if (worker.state === "closed") return { state: "failed", message: "the plugin was closed" };
    try {
      await worker.features(wait);
    } catch (error) {
      wait.signal?.throwIfAborted();
      return { state: "failed", message: error instanceof Error ? error.message : String(error) };
    }
  }
  return { state: "ready", message: workers.length === 1 ? "its worker runs" : `its ${workers.length} workers run` };
}
