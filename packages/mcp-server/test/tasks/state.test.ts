import type { JsonObject } from "@berth/jsonrpc-framing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { hasEnded, toDetailed } from "../../src/tasks/record.js";
import { freshKey, nextRecord, type TaskStep } from "../../src/tasks/state.js";
import type { TaskRecord } from "../../src/tasks.js";

/** Inner files: the machine is pure, and only here can every order of steps be tried. */
const first: TaskRecord = {
  taskId: "t",
  version: 1,
  owner: "ada",
  tool: "job",
  status: "working",
  createdAt: 1_000,
  updatedAt: 1_000,
  ttlMs: 60_000,
  pollIntervalMs: 500,
  askedKeys: [],
  inputRequests: {},
};
const request = { method: "roots/list" } as const;
const keys = fc.array(fc.constantFrom("a", "b", "a-2", "__proto__", "constructor"), { maxLength: 3 });
const steps = fc.array(
  fc.oneof(
    keys.map((asked) => ({ kind: "ask", asked }) as const),
    keys.map((answered) => ({ kind: "answer", answered }) as const),
    fc.constantFrom("tell", "complete", "fail", "cancel").map((kind) => ({ kind }) as const),
  ),
  { maxLength: 30 },
);
const legal: Readonly<Record<string, readonly string[]>> = {
  working: ["working", "input_required", "completed", "failed", "cancelled"],
  input_required: ["working", "input_required", "completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: [],
};

function toStep(record: TaskRecord, step: { kind: string; asked?: string[]; answered?: string[] }): TaskStep {
  const requests = new Map<string, typeof request>();
  for (const key of step.asked ?? []) requests.set(freshKey(record, key, requests), request);
  switch (step.kind) {
    case "ask":
      return { kind: "ask", requests: Object.fromEntries(requests) };
    case "answer":
      return { kind: "answer", keys: step.answered ?? [] };
    case "tell":
      return { kind: "tell", statusMessage: "x".repeat(2_000) };
    case "complete":
      return { kind: "complete", result: { content: [] } };
    case "fail":
      return { kind: "fail", error: { code: -1, message: "no" }, statusMessage: "no" };
    default:
      return { kind: "cancel", statusMessage: "no" };
  }
}

describe("the states of a task", () => {
  it("follow the extension's diagram in every order of steps, end once, and never ask twice under one key", () => {
    const numRuns = scaledCount("orders of steps", 20_000);
    fc.assert(
      fc.property(steps, fc.array(fc.integer({ min: -5, max: 5 })), (tries, clock) => {
        let record = first;
        let time = record.createdAt;
        const asked = new Set<string>();
        for (const [at, tried] of tries.entries()) {
          time += clock[at] ?? 1;
          const step = toStep(record, tried);
          const next = nextRecord(record, step, time);
          if (next === undefined) continue;
          expect(legal[record.status]).toContain(next.status);
          expect(next.version).toBe(record.version + 1);
          expect(next.updatedAt).toBeGreaterThanOrEqual(record.updatedAt);
          if (step.kind === "ask") {
            for (const key of Object.keys(step.requests)) {
              expect(asked.has(key)).toBe(false);
              asked.add(key);
            }
          }
          record = next;
          const told: JsonObject = toDetailed(record);
          expect("result" in told).toBe(record.status === "completed");
          expect("error" in told).toBe(record.status === "failed");
          expect("inputRequests" in told).toBe(record.status === "input_required");
          expect(Object.keys(record.inputRequests).length > 0).toBe(record.status === "input_required");
          expect((record.statusMessage ?? "").length).toBeLessThanOrEqual(1_024);
        }
        expect([...record.askedKeys].sort()).toEqual([...asked].sort());
        if (hasEnded(record)) expect(nextRecord(record, { kind: "tell", statusMessage: "" }, time)).toBeUndefined();
      }),
      { numRuns },
    );
  }, 120_000);
});
