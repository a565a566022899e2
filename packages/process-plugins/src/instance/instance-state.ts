import type { InstanceState } from "./instance.js";

/** What can happen to an instance, as its host sees it. */
export type InstanceEvent =
  /** `create` was answered as it has to be. */
  | "created"
  /** `start` was answered. */
  | "started"
  /** `stop` is sent. */
  | "stopping"
  /** `stop` was answered. */
  | "stopped"
  /** `destroy` was answered and the process is gone. */
  | "destroyed"
  /** Anything else that ends it. */
  | "failed";

/** What may be sent. */
export type InstanceAction = "create" | "start" | "health" | "call" | "stop" | "destroy";

/** The only way from one state to the next (PROTOCOL.md § 4): none is skipped, `destroyed` and `failed` are final. */
const steps: Readonly<Record<InstanceState, Partial<Record<InstanceEvent, InstanceState>>>> = {
  spawned: { created: "created", failed: "failed" },
  created: { started: "running", failed: "failed" },
  running: { stopping: "stopping", failed: "failed" },
  stopping: { stopped: "stopped", failed: "failed" },
  stopped: { destroyed: "destroyed", failed: "failed" },
  destroyed: {},
  failed: {},
};

const allowed: Readonly<Record<InstanceState, readonly InstanceAction[]>> = {
  spawned: ["create"],
  created: ["start", "health"],
  running: ["health", "call", "stop"],
  stopping: ["health"],
  stopped: ["destroy", "health"],
  destroyed: [],
  failed: [],
};

/** The state after an event; undefined where that event cannot follow. Pure. */
export function nextState(state: InstanceState, event: InstanceEvent): InstanceState | undefined {
  return steps[state][event];
}

/** Whether this may be sent to a plugin in this state. Pure. */
export function mayAsk(state: InstanceState, action: InstanceAction): boolean {
  return allowed[state].includes(action);
}

/** Whether nothing can follow. */
export function isFinal(state: InstanceState): boolean {
  return state === "destroyed" || state === "failed";
}
