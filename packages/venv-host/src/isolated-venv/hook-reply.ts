import { VenvHostError } from "../errors.js";
import type { PluginReply } from "../executor/plugin-call.js";
import { readPluginReply } from "../executor/plugin-reply.js";
import type { WorkerAnswer } from "../worker/worker.js";

/**
 * What a worker answered to a hook (CPEX fact sheet § 2.3). The result of a hook has no status; an answer that says success
 * and nothing else is that of a hook which returned nothing, and no permission.
 * @throws {VenvHostError} `PROTOCOL_ERROR`. Else as `readPluginReply`.
 */
export function readHookReply(answer: WorkerAnswer, hook: string): PluginReply {
  if (answer["status"] !== undefined && answer["continue_processing"] === undefined) {
    throw new VenvHostError("PROTOCOL_ERROR", `${hook} returned nothing: a hook must return a result`, {
      step: "call",
    });
  }
  return readPluginReply(answer, hook);
}
