import type { StatusBody } from "../http/rest/wire.js";

export function isLiving({ state }: StatusBody): boolean {
  return state === "active";
}

/** How a session is, in a word or two. */
export function stateText({ state, busy, queued, end }: StatusBody): {
  readonly kind: "ready" | "busy" | "over" | "failed";
  readonly text: string;
} {
  if (state === "active") {
    if (!busy) return { kind: "ready", text: "ready" };
    return { kind: "busy", text: queued === 0 ? "running" : `running, ${queued} waiting` };
  }
  const reason = end?.reason ?? state;
  return {
    kind: reason === "stopped" || reason === "expired" || reason === "shutdown" ? "over" : "failed",
    text: `ended: ${reason}`,
  };
}
