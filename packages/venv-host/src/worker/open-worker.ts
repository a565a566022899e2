import { VenvHostError } from "../errors.js";
import { type Call, createCall } from "./call.js";
import { type CallQueue, createCallQueue } from "./call-queue.js";
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
  const desk = createDesk(source, createCallQueue(terms));
  const { maxContentBytes } = terms.limits;
  const begin = (task: WorkerTask, wait?: TaskWait): Call => {
    wait?.signal?.throwIfAborted();
    closing.signal.throwIfAborted();
    secrets.remember(wait?.secrets ?? []);
    return createCall(task, maxContentBytes, wait);
  };
  let closed: Promise<void> | undefined;
  const endAll = async (): Promise<void> => {
    const reason = new VenvHostError("WORKER_CLOSED", "the worker was closed");
    closing.abort(reason);
    desk.rejectWaiting(reason);
    const { current } = source;
    await current?.shutdown(reason);
    await desk.settled();
    // One that was just started when this began.
    if (source.current !== current) await source.current?.shutdown(reason);
  };
  const close = (): Promise<void> => (closed ??= endAll());
  return {
    features: async (wait) => {
      await desk.askFeatures(begin({ task_type: "capabilities" }, wait));
      return currentFeatures(source);
    },
    call: async (task, wait) => desk.run(begin(task, wait)),
    get state() {
      if (closing.signal.aborted) return "closed";
      if (source.current?.isAlive === true) return "running";
      return source.wasTried && !desk.isBusy ? "dead" : "idle";
    },
    get pid() {
      return source.current?.isAlive === true ? source.current.pid : undefined;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Takes calls in, and gives them to a session one after another as long as any wait. */
interface Desk {
  readonly isBusy: boolean;
  run(call: Call): Promise<WorkerAnswer>;
  /** Settles when a session stands; nothing is sent for it, since the session was asked when it started. */
  askFeatures(call: Call): Promise<WorkerAnswer>;
  rejectWaiting(reason: unknown): void;
  settled(): Promise<void>;
}

function createDesk(source: SessionSource, queue: CallQueue): Desk {
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
  const run = (call: Call): Promise<WorkerAnswer> => {
    try {
      queue.push(call);
      working ??= work();
    } catch (error) {
      call.reject(error); // by the call itself, so that a later abort finds it settled
    }
    return call.answer;
  };
  return {
    get isBusy() {
      return working !== undefined;
    },
    run,
    askFeatures: (call) => {
      asksFeatures.add(call);
      return run(call);
    },
    rejectWaiting: queue.rejectAll,
    settled: async () => working,
  };
}

function currentFeatures(source: SessionSource): WorkerFeatures {
  if (source.current === undefined) throw new Error("no session answered");
  return source.current.features;
}
