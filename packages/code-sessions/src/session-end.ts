import type { Lease, LeaseEndReason, Scheduler } from "@berth/environment-leases";
import type { SessionEnd } from "./errors.js";
import { within } from "./within.js";
import type { WorkerGone } from "./worker/worker-gone.js";

/** How long the lease is waited for to say why a process was killed. */
const explainMs = 1_000;

/** What a lease that ended means for its session. */
const reasons: Readonly<Record<LeaseEndReason, SessionEnd["reason"]>> = {
  released: "stopped",
  operator: "stopped",
  discarded: "stopped",
  "hard-limit": "expired",
  idle: "expired",
  expired: "expired",
  deadline: "expired",
  memory: "memory",
  crash: "exit",
  disk: "disk",
  output: "output",
  "create-failed": "lost",
  lost: "lost",
  recovery: "shutdown",
  shutdown: "shutdown",
};

type Told = Omit<SessionEnd, "at">;

/**
 * Why a session is no more, from what its worker and its lease say. The lease must be on its way to its end: only the
 * environment knows whether a kill was for memory.
 */
export async function explainEnd(gone: WorkerGone, lease: Lease, scheduler: Scheduler): Promise<Told> {
  switch (gone.cause) {
    case "closed":
      return { reason: "stopped", detail: "stopped by its owner" };
    case "timeout":
    case "protocol":
    case "exit":
      return { reason: gone.cause, detail: gone.detail };
    case "signal":
      if (gone.signal !== "SIGKILL") return { reason: "signal", detail: gone.detail };
      return explainByLease(lease, scheduler, { reason: "signal", detail: gone.detail });
    case "environment":
      return explainByLease(lease, scheduler, { reason: "lost", detail: gone.detail });
  }
}

async function explainByLease(lease: Lease, scheduler: Scheduler, otherwise: Told): Promise<Told> {
  const ended = await within(lease.ended, explainMs, scheduler);
  if (ended === undefined) return otherwise;
  const how = ended.end;
  // Asked first: a worker that is gone with its sandbox may have ended the lease before its reason was known.
  if (how?.reason === "memory" || how?.reason === "disk" || how?.reason === "output") {
    return { reason: how.reason, detail: how.detail };
  }
  // The worker itself was killed, and not the environment: the lease knows whether the kernel did it for memory.
  const kills = how?.memoryKills ?? 0;
  if (kills > 0) return { reason: "memory", detail: `the kernel killed ${kills} of its processes for memory` };
  // We end the lease ourselves when the worker is gone: that says nothing about why it went.
  if (ended.reason === "crash") return otherwise;
  // An environment that was closed knows no more than that; why is the lease's.
  const byItself = how === undefined || how.reason === "closed" ? undefined : how.detail;
  return { reason: reasons[ended.reason], detail: byItself ?? ended.reason };
}
