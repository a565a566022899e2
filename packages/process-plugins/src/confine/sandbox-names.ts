import { randomBytes } from "node:crypto";

/** Sandboxes of plugins are named `plugin-PID-RANDOM`: what a killed host left of their control groups is found by that. */
export const sandboxNames = "plugin";

export function sandboxName(): string {
  return `${sandboxNames}-${process.pid}-${randomBytes(6).toString("hex")}`;
}
