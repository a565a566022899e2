import type { Scheduler } from "@berth/environment-leases";
import { SessionError } from "../errors.js";
import type { Session, SessionFiles } from "../session.js";
import type { SessionTerms } from "../session-terms.js";
import { untilAborted } from "../until-aborted.js";
import { within } from "../within.js";
import { WireFault } from "./wire.js";
import type { Worker } from "./worker.js";
import { ChannelEnded } from "./worker-channel.js";
import { type Ask, askVariables, createWorkerFiles } from "./worker-files.js";

export interface WorkerQueriesOptions {
  readonly worker: Worker;
  readonly terms: SessionTerms;
  readonly scheduler: Scheduler;
  /** Rejects when the session is no more; also once it is known why. */
  readonly checkOpen: () => Promise<void>;
  readonly use: () => void;
}

/** Requests that the worker has not answered yet. */
const maxAsks = 64;
/** A worker that holds its lock in native code for so long does not answer; it may later. */
const askMs = 30_000;

/** What is asked of a worker beside code: files and variables, also while code runs. */
export function createWorkerQueries(options: WorkerQueriesOptions): Pick<Session, "files" | "variables"> {
  const { worker, terms, scheduler, checkOpen, use } = options;
  let asks = 0;

  const ask: Ask = async (method, params) => {
    if (asks >= maxAsks) throw new SessionError("QUEUE_FULL", `${maxAsks} requests wait for this session's worker`);
    asks += 1;
    const answer = worker.ask(method, params);
    const settled = answer.then(
      () => "answered" as const,
      () => "answered" as const,
    );
    void settled.then(() => {
      asks -= 1;
    });
    if ((await within(settled, askMs, scheduler)) === undefined) {
      throw new SessionError("CALL_TIMEOUT", `the worker did not answer within ${askMs} ms`);
    }
    return answer;
  };
  /** One operation, whatever the worker answers. */
  const operate = async <T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
    signal?.throwIfAborted();
    await checkOpen();
    signal?.throwIfAborted();
    use();
    try {
      return await untilAborted(work(), signal);
    } catch (error) {
      if (error instanceof ChannelEnded) await checkOpen();
      if (!(error instanceof WireFault)) throw error;
      worker.end("protocol", error.message);
      throw new SessionError("WORKER_PROTOCOL", `the worker answered what it never answers: ${error.message}`);
    } finally {
      use();
    }
  };
  const files = createWorkerFiles(ask, terms);
  const guarded: SessionFiles = {
    list: (asked) => operate(() => files.list(asked), asked?.signal),
    read: (path, asked) => operate(() => files.read(path, asked), asked?.signal),
    write: (path, bytes, asked) => operate(() => files.write(path, bytes, asked), asked?.signal),
    remove: (path, asked) => operate(() => files.remove(path, asked), asked?.signal),
  };
  return { files: guarded, variables: (asked) => operate(() => askVariables(ask), asked?.signal) };
}
