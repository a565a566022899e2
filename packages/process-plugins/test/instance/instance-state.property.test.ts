import fc from "fast-check";
import { expect, it } from "vitest";
import type { InstanceState } from "../../src/instance/instance.js";
import { type InstanceEvent, isFinal, mayAsk, nextState } from "../../src/instance/instance-state.js";

const order: readonly InstanceState[] = ["spawned", "created", "running", "stopping", "stopped", "destroyed"];
const events: readonly InstanceEvent[] = ["created", "started", "stopping", "stopped", "destroyed", "failed"];
const anyEvents = fc.array(fc.constantFrom(...events), { maxLength: 40 });

/** The states that a run of events goes through; events that cannot follow change nothing. */
function run(sequence: readonly InstanceEvent[]): readonly InstanceState[] {
  const states: InstanceState[] = ["spawned"];
  for (const event of sequence) states.push(nextState(states.at(-1) ?? "spawned", event) ?? states.at(-1) ?? "spawned");
  return states;
}

it("no run of events skips a state", () => {
  fc.assert(
    fc.property(anyEvents, (sequence) => {
      const states = run(sequence);
      for (const [index, state] of states.entries()) {
        const before = states[index - 1];
        if (before === undefined || before === state || state === "failed") continue;
        expect(order.indexOf(state)).toBe(order.indexOf(before) + 1);
      }
    }),
  );
});

it("nothing follows a final state, and nothing may be asked in it", () => {
  for (const state of ["destroyed", "failed"] as const) {
    expect(isFinal(state)).toBe(true);
    for (const event of events) expect(nextState(state, event)).toBeUndefined();
    for (const action of ["create", "start", "health", "call", "stop", "destroy"] as const) {
      expect(mayAsk(state, action)).toBe(false);
    }
  }
});

it("every state but a final one can fail, and a failed instance stays failed", () => {
  fc.assert(
    fc.property(anyEvents, (sequence) => {
      const states = run([...sequence, "failed"]);
      expect(states.at(-1)).toBe(states.includes("destroyed") ? "destroyed" : "failed");
    }),
  );
});

it("calls are asked only while it is running, after created and started in this order", () => {
  fc.assert(
    fc.property(anyEvents, (sequence) => {
      const states = run(sequence);
      const last = states.at(-1) ?? "spawned";
      expect(mayAsk(last, "call")).toBe(last === "running");
      if (last !== "running") return;
      expect(states.indexOf("created")).toBeGreaterThan(0);
      expect(states.indexOf("running")).toBeGreaterThan(states.indexOf("created"));
    }),
  );
});

it("create is asked once: it makes the only state from which it cannot be asked again", () => {
  for (const state of order) expect(mayAsk(state, "create")).toBe(state === "spawned");
});
