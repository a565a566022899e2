import type { OutputEvent } from "@berth/code-sessions";
import type { Scheduler } from "@berth/environment-leases";

/** Tells a client how its code is getting on, if it asked. */
export interface ProgressTeller {
  readonly onOutput: ((event: OutputEvent) => void) | undefined;
  /** The code has ended. */
  end(): void;
}

export interface ProgressOptions {
  readonly progress: (progress: number, total?: number, message?: string) => void;
  readonly isAsked: boolean;
  readonly scheduler: Scheduler;
  readonly heartbeatMs: number;
}

/** Longest message of one step; the answer has all of it. */
const maxMessage = 4_096;

/**
 * 10 at the start, 50 at the first output or heartbeat, 100 at the end, as in the original; what comes in between grows
 * towards 90, since progress must grow (MCP 2025-11-25, Progress).
 */
export function tellProgress({ progress, isAsked, scheduler, heartbeatMs }: ProgressOptions): ProgressTeller {
  if (!isAsked) return { onOutput: undefined, end: () => undefined };
  let steps = 0;
  let timer: { cancel(): void } | undefined;
  const step = (message?: string): void => {
    steps += 1;
    progress(90 - 80 / (steps + 1), undefined, message);
    rest();
  };
  const rest = (): void => {
    timer?.cancel();
    timer = scheduler.after(heartbeatMs, () => step());
  };
  progress(10);
  rest();
  return {
    onOutput(event) {
      const text = event.kind === "display" ? event.display.data["text/plain"] : event.text;
      const message = (text ?? "").trim().slice(0, maxMessage);
      if (message !== "") step(message);
    },
    end() {
      timer?.cancel();
      progress(100);
    },
  };
}
