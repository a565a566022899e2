// The entry of a measuring thread: the one module that does something when it is imported.
import { parentPort, workerData } from "node:worker_threads";
import { handlers, type JobKind, type Jobs, type SentError, sendError } from "./jobs.js";
import type { MeasureTools } from "./measure/tools.js";

/** Bounds that hold for every job of a thread. */
export type ThreadLimits = Pick<MeasureTools, "maxFileBytes" | "maxTreeBytes" | "maxEntries">;

/** One job, and the digests that earlier ones have left. */
export interface JobMessage<K extends JobKind> {
  readonly kind: K;
  readonly input: Jobs[K]["input"];
  readonly known: ReadonlyMap<string, string>;
}

/** Its end. */
export type JobReply<K extends JobKind> = { readonly learned: ReadonlyMap<string, string> } & (
  | { readonly ok: true; readonly output: Jobs[K]["output"] }
  | { readonly ok: false; readonly error: SentError }
);

const limits: ThreadLimits = workerData;
const buffer = Buffer.allocUnsafeSlow(1_048_576);

function answer<K extends JobKind>({ kind, input, known }: JobMessage<K>): JobReply<K> {
  const learned = new Map<string, string>();
  try {
    const tools = { ...limits, buffer, startedNs: BigInt(Date.now()) * 1_000_000n };
    return { ok: true, output: handlers[kind](input, { platform: process.platform, tools, known, learned }), learned };
  } catch (error) {
    return { ok: false, error: sendError(error), learned };
  }
}

parentPort?.on("message", (message: JobMessage<JobKind>) => parentPort?.postMessage(answer(message)));
