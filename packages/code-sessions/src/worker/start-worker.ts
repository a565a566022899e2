import { type GuestProcess, type Scheduler, systemScheduler, type WarmLease } from "@berth/environment-leases";
import { SessionError } from "../errors.js";
import type { SessionTerms } from "../session-terms.js";
import { readWorkerSource } from "../worker-source.js";
import { bootBytes, workerArgv } from "./boot.js";
import { keepTail } from "./stderr-tail.js";
import { connectWorker, type Worker } from "./worker.js";

export interface StartWorkerOptions {
  readonly terms: SessionTerms;
  readonly signal?: AbortSignal | undefined;
  /** Default: the system's. */
  readonly scheduler?: Scheduler | undefined;
}

/**
 * Starts the interpreter in the environment and gives it the worker, over the same stream that then carries the frames:
 * no file of ours has to be in there.
 * @throws {SessionError} `WORKER_NOT_STARTED`; the signal's reason.
 */
export async function startWorker(
  environment: WarmLease["environment"],
  { terms, signal, scheduler = systemScheduler }: StartWorkerOptions,
): Promise<Worker> {
  signal?.throwIfAborted();
  let guest: GuestProcess;
  try {
    guest = await environment.open(workerArgv(environment.interpreter), { cwd: environment.workspace, signal });
  } catch (cause) {
    signal?.throwIfAborted();
    throw notStarted("the interpreter could not be started", cause);
  }
  const said = keepTail(guest.stderr);
  const worker = connectWorker({ guest, environmentEnded: environment.ended, terms, scheduler });
  guest.stream.write(bootBytes(readWorkerSource(), terms, environment.workspace));
  const late = scheduler.after(terms.startMs, () => worker.end("timeout", `was not ready after ${terms.startMs} ms`));
  try {
    await untilReady(worker, signal);
    return worker;
  } catch (cause) {
    await worker.close();
    signal?.throwIfAborted();
    const gone = cause instanceof Error ? cause.message : String(cause);
    throw notStarted(`the worker ${gone}${said() === "" ? "" : `: ${said()}`}`, undefined);
  } finally {
    late.cancel();
  }
}

async function untilReady(worker: Worker, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const settled = (): void => signal?.removeEventListener("abort", onAbort);
    void worker.ready.then(resolve).finally(settled);
    void worker.gone.then(({ detail }) => reject(new Error(detail))).finally(settled);
  });
}

function notStarted(what: string, cause: unknown): SessionError {
  return new SessionError("WORKER_NOT_STARTED", what, {
    cause,
    cure: "check that the profile's template is CPython 3.10 to 3.13 and that its limits leave room for it",
  });
}
