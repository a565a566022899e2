import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRespawnBudget } from "../../src/worker/respawn-budget.js";
import { hookTask, openStub } from "./workers.js";

describe("the budget", () => {
  it("gives three starts, after 100, 200 and 400 ms", () => {
    const budget = createRespawnBudget({ now: () => 0 });
    expect([budget.take(), budget.take(), budget.take(), budget.take()]).toEqual([100, 200, 400, undefined]);
  });

  it("is whole again 60 s after the first of them", () => {
    let now = 0;
    const budget = createRespawnBudget({ now: () => now });
    budget.take();
    now = 59_999;
    expect([budget.take(), budget.take(), budget.take()]).toEqual([200, 400, undefined]);
    now = 60_000;
    expect(budget.take()).toBe(100);
  });

  it("is whole again with a completed call", () => {
    const budget = createRespawnBudget({ now: () => 0 });
    budget.take();
    budget.take();
    budget.refill();
    expect(budget.take()).toBe(100);
  });
});

describe("after a death", () => {
  it("the next call gets a new process, which all that wait share", async () => {
    const worker = openStub();
    await expect(worker.call(hookTask("Die"))).rejects.toMatchObject({ code: "WORKER_DIED" });
    const answers = await Promise.all([1, 2, 3, 4].map((n) => worker.call(hookTask("Echo", { n }))));
    expect(answers).toMatchObject([1, 2, 3, 4].map((n) => ({ metadata: { made: 1, task: { payload: { n } } } })));
  });

  it("three starts without a completed call are enough; then calls fail at once, with the last reason", async () => {
    const worker = openStub();
    await worker.features();
    const outcomes: unknown[] = [];
    for (let n = 0; n < 6; n++) outcomes.push(await worker.call(hookTask("Die")).catch((error: unknown) => error));
    const codes = outcomes.map((error) => (error instanceof Error && "code" in error ? error.code : error));
    const [died, failed] = ["WORKER_DIED", "WORKER_START_FAILED"];
    expect(codes).toEqual([died, died, died, died, failed, failed]);
    expect(outcomes[4]).toMatchObject({ message: expect.stringContaining("the last words"), details: { exitCode: 7 } });
  });

  it("a completed call gives the three starts back", async () => {
    const worker = openStub();
    for (let n = 0; n < 5; n++) {
      await expect(worker.call(hookTask("Die"))).rejects.toMatchObject({ code: "WORKER_DIED" });
      expect(await worker.call(hookTask("Echo"))).toHaveProperty("metadata");
    }
  });

  it("each new process is asked for its features, and refused ones get no task", async () => {
    const asked: readonly string[][] = [];
    const seen: string[][] = [...asked];
    const worker = openStub({
      accept: ({ features }) => {
        seen.push([...features]);
        if (seen.length > 1) throw new Error("it has changed");
      },
    });
    await worker.call(hookTask("Echo"));
    await expect(worker.call(hookTask("Die"))).rejects.toMatchObject({ code: "WORKER_DIED" });
    await expect(worker.call(hookTask("Echo"))).rejects.toMatchObject({
      code: "WORKER_START_FAILED",
      message: expect.stringContaining("it has changed"),
    });
    expect(seen.length).toBe(4);
  });

  it("a call that killed its worker is not sent again", async () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-worker-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "armed");
    writeFileSync(file, "");
    const worker = openStub();
    await expect(worker.call(hookTask("DieOnce", { file }))).rejects.toMatchObject({ details: { exitCode: 9 } });
    expect(await worker.call(hookTask("DieOnce", { file }))).toHaveProperty("continue_processing");
  });

  it("a death between calls is seen by the next one, which is not lost", async () => {
    const worker = openStub();
    await worker.call(hookTask("Echo"));
    process.kill(worker.pid ?? 0, "SIGKILL");
    const outcomes = await Promise.allSettled([worker.call(hookTask("Echo")), worker.call(hookTask("Echo"))]);
    expect(outcomes[1]?.status).toBe("fulfilled");
  });
});
