import type { HookOutcome } from "@berth/venv-host/executor";

/** What is told of an outcome, whichever door it leaves by. `carried` is a name for what plugins noted. */
export interface ToldOutcome {
  readonly requestId: string;
  readonly allowed: boolean;
  readonly payload: HookOutcome["payload"];
  readonly extensions?: HookOutcome["extensions"];
  readonly result?: HookOutcome["result"];
  readonly violation?: HookOutcome["violation"];
  readonly httpHeaders: HookOutcome["httpHeaders"];
  readonly metadata: HookOutcome["metadata"];
  readonly retryDelayMs: number;
  readonly executions: HookOutcome["executions"];
  readonly carried?: string | undefined;
}

/** Members that are undefined leave with JSON. */
export function toldOutcome({ carried, ...outcome }: HookOutcome, name?: string): ToldOutcome {
  const executions = outcome.executions.map((one) => ({
    ...one,
    durationMs: Math.round(one.durationMs * 1_000) / 1_000,
  }));
  return { requestId: carried.requestId, ...outcome, executions, carried: name };
}
