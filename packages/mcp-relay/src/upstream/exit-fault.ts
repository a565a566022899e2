import type { Scheduler } from "@berth/jsonrpc-framing";
import type { ExitReport, UpstreamConnection } from "../connection.js";
import { type RelayFault, upstreamGone } from "../wire-errors.js";

/** How long the failing of pending calls waits for the exit status, so that their error can name it. */
const exitStatusMs = 500;
/** How long a child's exit status is waited for once its closing is done. */
const exitReportMs = 1_000;

/** CHILD_EXITED with the exit status when it comes soon enough: stdout ends a little before the process is reaped. */
export async function exitFault(
  server: string,
  connection: UpstreamConnection,
  scheduler: Scheduler,
): Promise<RelayFault> {
  const exit = await exitWithin(exitStatusMs, connection.exited, scheduler);
  if (exit === undefined) return upstreamGone(server, "CHILD_EXITED");
  const { code, signal } = exit;
  const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
  const stderrBytes = connection.stderrBytes?.();
  const detail = stderrBytes === undefined ? how : `${how}, ${stderrBytes} bytes on stderr`;
  const data = { exitCode: code ?? undefined, signal: signal ?? undefined, stderrBytes };
  return upstreamGone(server, "CHILD_EXITED", detail, data);
}

/** The exit status, or an empty one when the host cannot tell it in time. */
export async function exitReport(exited: Promise<ExitReport>, scheduler: Scheduler): Promise<ExitReport> {
  return (await exitWithin(exitReportMs, exited, scheduler)) ?? { code: null, signal: null };
}

function exitWithin(
  waitMs: number,
  exited: Promise<ExitReport>,
  scheduler: Scheduler,
): Promise<ExitReport | undefined> {
  return new Promise((resolve) => {
    const timer = scheduler.after(waitMs, () => resolve(undefined));
    void exited.then((exit) => {
      timer.cancel();
      resolve(exit);
    });
  });
}
