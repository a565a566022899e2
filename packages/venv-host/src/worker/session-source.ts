import { pause } from "../environments/pause.js";
import { isVenvHostError, VenvHostError } from "../errors.js";
import { createRespawnBudget } from "./respawn-budget.js";
import type { Secrets } from "./secrets.js";
import { type Session, startSession } from "./session.js";
import type { WorkerTerms } from "./worker-terms.js";

/** Gives the session that tasks are sent to: the living one, or a new one as long as the budget lasts. */
export interface SessionSource {
  readonly current: Session | undefined;
  /** Whether one was ever started, or tried to be. */
  readonly wasTried: boolean;
  /** Not to be called again before it has settled. */
  next(): Promise<Session>;
}

/** @param closing aborted: nothing is started any more. */
export function createSessionSource(terms: WorkerTerms, secrets: Secrets, closing: AbortSignal): SessionSource {
  const budget = createRespawnBudget(terms.scheduler);
  let current: Session | undefined;
  let wasTried = false;
  let firstFault: unknown;

  const start = async (): Promise<Session> => {
    wasTried = true;
    current = await startSession({ terms, secrets, onAnswered: budget.refill }, closing);
    return current;
  };
  const startFirst = async (): Promise<Session> => {
    if (firstFault !== undefined) throw firstFault;
    try {
      return await start();
    } catch (error) {
      firstFault = error; // it never worked: trying again is for whoever repairs it
      throw error;
    }
  };
  const startAgain = async (died: Session): Promise<Session> => {
    let fault: unknown = died.fault;
    for (let delayMs = budget.take(); delayMs !== undefined; delayMs = budget.take()) {
      await pause(delayMs, terms.scheduler, closing);
      try {
        return await start();
      } catch (error) {
        closing.throwIfAborted();
        fault = error;
      }
    }
    throw exhausted(fault);
  };
  return {
    get current() {
      return current;
    },
    get wasTried() {
      return wasTried;
    },
    next: async () => {
      closing.throwIfAborted();
      if (current === undefined) return startFirst();
      return current.isAlive ? current : startAgain(current);
    },
  };
}

/** A refusal stays what it is: what the caller has to do about it does not change with the number of tries. */
function exhausted(fault: unknown): unknown {
  if (isVenvHostError(fault) && fault.code === "CREDENTIAL_ERROR") return fault;
  const last = fault instanceof Error ? fault.message : String(fault);
  const details = isVenvHostError(fault) ? fault.details : {};
  const message = `the worker was started 3 times within 60 s without a completed call; the last time: ${last}`;
  return new VenvHostError("WORKER_START_FAILED", message, { ...details, step: "start", cause: fault });
}
