import { PluginHostError } from "../errors.js";
import type { HookDecision, Scheduler } from "../plugin-host.js";
import { inTime } from "../until-aborted.js";

/** Tells of decisions in their order, and waits for all of them at the end: a log may write many at once. */
export interface DecisionLog {
  /** Whether anybody is told: else what is costly to find out need not be. */
  readonly isHeard: boolean;
  note(decision: HookDecision): void;
  /** @throws {PluginHostError} `DECISION_NOT_RECORDED` when one was not. */
  settled(signal: AbortSignal, wait: { readonly scheduler: Scheduler; readonly timeoutMs: number }): Promise<void>;
}

export function createDecisionLog(record: ((decision: HookDecision) => void | Promise<void>) | undefined): DecisionLog {
  const pending: Promise<void>[] = [];
  return {
    isHeard: record !== undefined,
    note(decision) {
      if (record === undefined) return;
      const writing = (async () => record(decision))();
      writing.catch(() => undefined); // told of by `settled`; here only so that Node does not end the process before
      pending.push(writing);
    },
    async settled(signal, { scheduler, timeoutMs }) {
      if (pending.length === 0) return;
      const late = (): Error => new Error(`not recorded within ${timeoutMs} ms`);
      try {
        await inTime(async () => Promise.all(pending), { scheduler, timeoutMs, late, followed: [signal] });
      } catch (error) {
        signal.throwIfAborted();
        throw new PluginHostError("DECISION_NOT_RECORDED", "a decision of a plugin could not be recorded", {
          cause: error,
        });
      }
    },
  };
}
