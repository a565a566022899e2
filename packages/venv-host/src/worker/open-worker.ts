import { VenvHostError } from "../errors.js";
import { type Call, createCall } from "./call.js";
import { createCallQueue } from "./call-queue.js";
import { createSecrets } from "./secrets.js";
import { createSessionSource, type SessionSource } from "./session-source.js";
import type { TaskWait, Worker, WorkerAnswer, WorkerFeatures, WorkerOptions, WorkerTask } from "./worker.js";
import { readWorkerOptions } from "./worker-terms.js";

/**
 * A client of CPEX's isolated worker, of 0.1.0 to 0.1.4. Starts nothing before the first call.
 * @throws {VenvHostError} `OPTION_INVALID`.
 */
export function openWorker(options: WorkerOptions): Worker {
  const terms = readWorkerOptions(options);
  const secrets = createSecrets();
  const closing = new AbortController();
  const source = createSessionSource(terms, secrets, closing.signal);
  const queue = createCallQueue(terms);
  const { maxContentBytes } = terms.limits;
  const asksFeatures = new WeakSet<Call>();
  let working: Promise<void> | undefined;

  const work = async (): Promise<void> => {
    while (queue.size > 0) {
      try {
        const session = await source.next();
        const call = queue.shift();
        if (call === undefined) break;
        if (asksFeatures.has(call)) call.resolve({ ...session.features });
        else await session.run(call);
      } catch (error) {
        queue.rejectAll(error);
      }
    }
    working = undefined;
  };
  const enqueue = (call: Call): Promise<WorkerAnswer> => {
    try {
      queue.push(call);
      working ??= work();
    } catch (error) {
      call.reject(error); // by the call itself, so that a later abort finds it settled
    }
    return call.answer;
  };
  const call = async (task: WorkerTask, wait?: TaskWait): Promise<WorkerAnswer> => {
    wait?.signal?.throwIfAborted();
    closing.signal.throwIfAborted();
    secrets.remember(wait?.secrets ?? []);
    return enqueue(createCall(task, maxContentBytes, wait));
  };
  const features = async (wait?: TaskWait): Promise<WorkerFeatures> => {
    wait?.signal?.throwIfAborted();
    closing.signal.throwIfAborted();
    const question = createCall({ task_type: "capabilities" }, maxContentBytes, wait);
    asksFeatures.add(question);
    await enqueue(question);
    return currentFeatures(source);
  };
  let closed: Promise<void> | undefined;
  const endAll = async (): Promise<void> => {
    const reason = new VenvHostError("WORKER_CLOSED", "the worker was closed");
    closing.abort(reason);
    queue.rejectAll(reason);
    const { current } = source;
    await current?.shutdown(reason);
    await working;
    // One that was just started when this began.
    if (source.current !== current) await source.current?.shutdown(reason);
  };
  const close = (): Promise<void> => (closed ??= endAll());
  return {
    features,
    call,
    get state() {
      if (closing.signal.aborted) return "closed";
      if (source.current?.isAlive === true) return "running";
      return source.wasTried && working === undefined ? "dead" : "idle";
    },
    get pid() {
      return source.current?.isAlive === true ? source.current.pid : undefined;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function currentFeatures(source: SessionSource): WorkerFeatures {
  if (source.current === undefined) throw new Error("no session answered");
  return source.current.features;
}
