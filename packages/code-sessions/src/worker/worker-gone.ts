import type { GuestExit, Lease, Scheduler } from "@berth/environment-leases";
import { within } from "../within.js";

/** Why a worker is of no use any more. */
export interface WorkerGone {
  readonly cause: "exit" | "signal" | "protocol" | "environment" | "closed" | "timeout";
  /** For a person. */
  readonly detail: string;
  readonly signal: string | undefined;
}

/** How long the end of a process and the end of its stream may lie apart. */
const settleMs = 500;

/** What the end of the stream or of the process means, once the other was waited for. */
export async function explainExit(
  exited: Promise<GuestExit>,
  environmentEnded: Lease["ended"],
  scheduler: Scheduler,
): Promise<WorkerGone> {
  const exit = await within(exited, settleMs, scheduler);
  if (exit === undefined) return { cause: "protocol", detail: "it closed its channel and ran on", signal: undefined };
  const { code, signal } = exit;
  if (signal !== undefined) return { cause: "signal", detail: `ended by ${signal}`, signal };
  if (code !== undefined) return { cause: "exit", detail: `exited with status ${code}`, signal };
  const ended = await within(environmentEnded, settleMs, scheduler);
  return { cause: "environment", detail: ended?.end?.detail ?? ended?.reason ?? "its environment ended", signal };
}
