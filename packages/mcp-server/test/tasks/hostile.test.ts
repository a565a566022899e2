import type { JsonValue } from "@berth/jsonrpc-framing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { createMemoryTaskStore } from "../../src/tasks.js";
import { knowsTasks, manualTime, openTaskClient, taskServer, taskTools } from "../support/task-server.js";

const oddities: readonly JsonValue[] = [
  null,
  0,
  "",
  "x",
  [],
  {},
  { name: 3 },
  { __proto__: null, toString: 1 },
  JSON.parse(
    '{"__proto__":{"action":"accept"},"name":{"action":"accept","content":{"name":"x"}},"place":{"action":"cancel"}}',
  ),
];
const names = taskTools.map(({ name }) => name);
const step = fc.record({
  who: fc.constantFrom("ada", "eve"),
  method: fc.constantFrom(
    "tools/call",
    "tools/call",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "subscriptions/listen",
    "pass",
  ),
  tool: fc.constantFrom(...names),
  /** Which of all tasks that anybody made; may be somebody else's. */
  task: fc.nat(20),
  odd: fc.constantFrom(...oddities),
  isOdd: fc.boolean(),
  declares: fc.boolean(),
  waits: fc.boolean(),
});

describe("whatever clients do to tasks", () => {
  it("each request is answered, nobody hears of another's tasks, and after the close nothing runs, waits or is left in between", async () => {
    const numRuns = scaledCount("sequences of requests about tasks", 10_000);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const time = manualTime();
        const store = createMemoryTaskStore();
        const tasks = { store, limits: { defaultTtlMs: 5_000, maxQuestions: 4 }, onUnexpectedError: () => undefined };
        const server = taskServer({ tasks, now: time.now, scheduler: time.scheduler });
        const clients = { ada: openTaskClient(server, "ada"), eve: openTaskClient(server, "eve") };
        const ids: string[] = [];
        const owned = { ada: new Set<string>(), eve: new Set<string>() };
        const open: Promise<unknown>[] = [];
        for (const { who, method, tool, task, odd, isOdd, declares, waits } of steps) {
          if (method === "pass") await time.pass(task * 100);
          if (method === "pass") continue;
          const taskId = ids[task % Math.max(1, ids.length)] ?? "none";
          const params = {
            "tools/call": { name: tool, arguments: isOdd ? odd : {} },
            "tasks/get": { taskId: isOdd ? odd : taskId },
            "tasks/update": { taskId, inputResponses: odd },
            "tasks/cancel": { taskId: isOdd ? odd : taskId },
            "subscriptions/listen": { notifications: { taskIds: isOdd ? odd : [taskId] } },
          }[method];
          // The unexpected error of a call that did not become a task is the caller's, as ever.
          const asked = clients[who]
            .askModern(method, params, declares ? knowsTasks : { elicitation: {} })
            .catch(() => "failed");
          if (method === "subscriptions/listen" || (tool === "waits" && !declares)) {
            open.push(asked);
            continue;
          }
          const answer = await asked;
          expect(answer).toBeDefined();
          const text = JSON.stringify(answer);
          if (method === "tasks/get" && !owned[who].has(taskId) && !isOdd) expect(text).toContain('"error"');
          const made = /"resultType":"task","taskId":"([\w-]{32})"/.exec(text)?.[1];
          if (made !== undefined) {
            ids.push(made);
            owned[who].add(made);
          }
          if (waits) await new Promise(setImmediate);
        }
        await server.close();
        await Promise.all(open);
        for (const who of ["ada", "eve"] as const) {
          const told = clients[who].sent.filter(({ method }) => method === "notifications/tasks");
          for (const { params } of told) expect(owned[who].has(Object(params).taskId)).toBe(true);
        }
        for await (const { status } of store.list()) expect(["completed", "failed", "cancelled"]).toContain(status);
        expect(time.timers).toBe(0);
      }),
      { numRuns },
    );
  }, 120_000);
});
