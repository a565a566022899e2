import { duration } from "./clock.js";
import { element, setText } from "./dom.js";

/** A time that is counted down to, or up from: it is right from the start, and `setClocks` keeps it so. */
export function clock(kind: "until" | "since", at: number, now: number): HTMLElement {
  const made = element("time", { datetime: new Date(at).toISOString(), title: new Date(at).toLocaleString() });
  made.dataset[kind] = String(at);
  show(made, now);
  return made;
}

/** Sets all clocks of the page by the server's time. */
export function setClocks(root: ParentNode, now: number): void {
  for (const one of root.querySelectorAll<HTMLElement>("time[data-until], time[data-since]")) show(one, now);
}

/** Below this, the time that is left is marked. */
const soonMs = 60_000;

function show(one: HTMLElement, now: number): void {
  const { until, since } = one.dataset;
  const left = Number(until) - now;
  setText(one, duration(until === undefined ? now - Number(since) : left));
  one.classList.toggle("soon", left < soonMs);
}
