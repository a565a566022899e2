import type { Scheduler } from "@berth/environment-leases";
import type { SessionEnd } from "./errors.js";
import type { ExecuteTerms } from "./execute-terms.js";
import type { Outcome } from "./outcome.js";
import type { CallReport, RunningCall, Worker } from "./worker/worker.js";

export interface RunCallOptions {
  readonly worker: Worker;
  readonly asked: ExecuteTerms;
  /** From interrupt to kill. */
  readonly interruptMs: number;
  readonly count: number;
  readonly scheduler: Scheduler;
  /** One is aborted when nobody waits any more, or when the session stops. (`AbortSignal.any` costs a tenth of a call.) */
  readonly abandoned: readonly AbortSignal[];
  /** Awaited for the reason of an end before an answer. */
  readonly ended: Promise<SessionEnd>;
  /** Told what interrupts it. */
  readonly onStart: (call: RunningCall) => void;
}

/** Hands the code over, once, and sees to it that it comes to an end. Never rejects. */
export async function runCall(options: RunCallOptions): Promise<Outcome> {
  const { worker, asked, interruptMs, count, scheduler, abandoned, ended } = options;
  const startedAt = scheduler.now();
  const call = worker.execute(asked);
  let isOver = false;
  let killTimer: { cancel(): void } | undefined;
  const interrupt = (): void => {
    call.interrupt();
    killTimer ??= scheduler.after(interruptMs, () =>
      worker.end("timeout", `the code did not answer an interrupt within ${interruptMs} ms`),
    );
  };
  const deadline = scheduler.after(asked.timeoutMs, () => {
    isOver = true;
    interrupt();
  });
  for (const signal of abandoned) {
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) interrupt();
  }
  options.onStart(call);
  const report = await call.report;
  deadline.cancel();
  killTimer?.cancel();
  for (const signal of abandoned) signal.removeEventListener("abort", interrupt);
  const durationMs = scheduler.now() - startedAt;
  const end = report.answer === undefined ? await ended : undefined;
  return toOutcome(report, { durationMs, count, end, lateMs: isOver ? asked.timeoutMs : undefined });
}

interface Circumstances {
  readonly durationMs: number;
  readonly count: number;
  /** How the session ended, when it did before an answer. */
  readonly end: SessionEnd | undefined;
  /** The time that was over, if it was. */
  readonly lateMs: number | undefined;
}

function toOutcome({ answer, texts, displays }: CallReport, circumstances: Circumstances): Outcome {
  const { durationMs, count, end, lateMs } = circumstances;
  const late = lateMs === undefined ? undefined : `the code was interrupted after ${lateMs} ms`;
  const died = end === undefined ? undefined : `the session ended: ${end.detail}`;
  const status = late !== undefined && (end === undefined || end.reason === "timeout") ? "timeout" : answer?.status;
  return {
    status: status ?? "dead",
    ...texts,
    result: answer?.result,
    displays,
    displaysDropped: answer?.displaysDropped ?? 0,
    fault: answer?.fault,
    reason: late !== undefined && died !== undefined ? `${late}; ${died}` : (died ?? late),
    durationMs,
    cpuMs: answer?.cpuMs,
    count,
    spill: answer?.spill,
  };
}
