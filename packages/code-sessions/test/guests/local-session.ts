import { onTestFinished } from "vitest";
import type { ExecuteOptions, Outcome, Session, SessionEvent, SessionLimits } from "../../src/index.js";
import { openSession } from "../../src/open-session.js";
import { readSessionTerms } from "../../src/session-terms.js";
import { startWorker } from "../../src/worker/start-worker.js";
import type { Worker } from "../../src/worker/worker.js";
import { createLocalLease, type LocalLease } from "./local-lease.js";

export interface LocalSession extends LocalLease {
  readonly session: Session;
  readonly worker: Worker;
  readonly faults: readonly unknown[];
  /** Runs code, and gives its outcome's promise once it has printed; code without a print gets one as its first line. */
  begin(
    code: string,
    options?: Omit<ExecuteOptions, "code" | "onOutput">,
  ): Promise<{ readonly outcome: Promise<Outcome> }>;
  /** Runs code and gives its outcome. */
  run(code: string, options?: Omit<ExecuteOptions, "code">): Promise<Outcome>;
}

export interface LocalSessionOptions {
  readonly interpreter?: string;
  readonly limits?: SessionLimits;
  readonly record?: (event: SessionEvent) => Promise<void> | void;
  readonly closing?: AbortSignal;
}

/** A session over a plain process, gone with the test. */
export async function openLocalSession(options: LocalSessionOptions = {}): Promise<LocalSession> {
  const local = await createLocalLease(options.interpreter);
  onTestFinished(() => local.end("released"));
  const terms = readSessionTerms(options.limits);
  const worker = await startWorker(local.lease, { terms });
  const faults: unknown[] = [];
  const session = openSession({
    ...{ name: "s", owner: "alice", lease: local.lease, worker, terms, record: options.record },
    onFault: (fault) => faults.push(fault),
    closing: options.closing,
  });
  const begin: LocalSession["begin"] = (code, more) =>
    new Promise((resolve, reject) => {
      const heard = (): void => resolve({ outcome });
      const outcome = session.execute({
        code: code.includes("print(") ? code : `print('on')\n${code}`,
        ...more,
        onOutput: heard,
      });
      outcome.catch(reject);
    });
  return { ...local, session, worker, faults, begin, run: (code, more) => session.execute({ code, ...more }) };
}
