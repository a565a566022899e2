import type { LeaseBody, StatusBody } from "../http/rest/wire.js";
import { clock } from "./clocks.js";
import { element } from "./dom.js";

/** When a lease ends unless something is done: its hard clock, its idle clock, and the end that no renewal passes. */
export function endsAt(lease: LeaseBody, now: number): HTMLElement {
  return clock("until", Date.parse(lease.expires_at), now);
}

export function ceilingAt(lease: LeaseBody, now: number): HTMLElement {
  return clock("until", Date.parse(lease.ceiling_at), now);
}

/** What runs is use, and a session knows of its last use sooner than its lease. */
export function idleEndsAt(lease: LeaseBody, session: StatusBody | undefined, now: number): HTMLElement {
  if (lease.idle_ms === undefined) return element("span", {}, "never");
  if (session?.busy === true) return element("span", {}, "in use");
  const lastUsedAt = Date.parse(session?.last_used_at ?? lease.last_used_at);
  return clock("until", Math.max(Date.parse(lease.last_used_at), lastUsedAt) + lease.idle_ms, now);
}
