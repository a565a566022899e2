import { describe, expect, it } from "vitest";
import { hookTask, openStub } from "./workers.js";

const rejection = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe("a death under a call", () => {
  it("fails it at once, with the exit code and the end of stderr", async () => {
    const worker = openStub();
    await expect(worker.call(hookTask("Die", { stderr: "Traceback\nMemoryError: too much\n" }))).rejects.toMatchObject({
      code: "WORKER_DIED",
      message: expect.stringMatching(/ended with code 7.*MemoryError: too much/u),
      details: {
        exitCode: 7,
        isStderrTruncated: false,
        stderrExcerpt: expect.stringMatching(/Traceback\nMemoryError/u),
      },
    });
    expect(worker.state).toBe("dead");
    expect(worker.pid).toBeUndefined();
  });

  it.each([
    { name: "a segmentation fault", behaviour: "Segfault", payload: {}, text: "by SIGSEGV", exitCode: null },
    { name: "an exit with 0", behaviour: "Die", payload: { code: 0 }, text: "with code 0", exitCode: 0 },
    {
      name: "a process left behind that holds the pipes",
      behaviour: "Fork",
      payload: { die: true },
      text: "with code 5",
      exitCode: 5,
    },
  ])("$name is told as it was", async ({ behaviour, payload, text, exitCode }) => {
    const worker = openStub();
    const startedAt = performance.now();
    await expect(worker.call(hookTask(behaviour, payload))).rejects.toMatchObject({
      code: "WORKER_DIED",
      message: expect.stringContaining(text),
      details: { exitCode },
    });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it("a worker that closes its output cannot answer: it is ended", async () => {
    const worker = openStub();
    await expect(worker.call(hookTask("CloseOutput"))).rejects.toMatchObject({ code: "WORKER_DIED" });
  });

  it("costs the call that ran and no other", async () => {
    const worker = openStub();
    const calls = [hookTask("Echo", { n: 1 }), hookTask("Die"), hookTask("Echo", { n: 2 })].map((task) =>
      worker.call(task),
    );
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it.each([
    { name: "many lines: the last 40 are kept", payload: { chars: 50, lines: 500 }, maxLines: 40 },
    { name: "long lines: each is cut, and the end is kept", payload: { chars: 20_000, lines: 3 }, maxLines: 2 },
  ])("stderr of $name", async ({ payload, maxLines }) => {
    const worker = openStub();
    await worker.call(hookTask("Loud", payload));
    const error = await rejection(worker.call(hookTask("Die", { stderr: "the last words\n" })));
    expect(error).toMatchObject({
      details: { isStderrTruncated: true, stderrExcerpt: expect.stringMatching(/the last words$/u) },
    });
    const excerpt = JSON.stringify(error);
    expect(excerpt.match(/\\n/gu)?.length ?? 0).toBeLessThan(maxLines);
    expect(Buffer.byteLength(excerpt)).toBeLessThan(4_600);
  });

  it("the excerpt is cut at a character", async () => {
    const worker = openStub();
    // Two bytes of the first character are over the limit.
    const stderr = `${"€".repeat(2_000)}!!\n`;
    const error = await rejection(worker.call(hookTask("Die", { stderr })));
    expect(error).toMatchObject({ details: { stderrExcerpt: `${"€".repeat(1_364)}!!`, isStderrTruncated: true } });
  });

  it("sends after it fail fast while no new process can be had", async () => {
    const worker = openStub();
    await worker.close();
    const refused = rejection(worker.call(hookTask("Echo")));
    const nextTurn = new Promise((resolve) => setImmediate(resolve, "it waits for something"));
    expect(await Promise.race([refused, nextTurn])).toMatchObject({ code: "WORKER_CLOSED" });
  });
});

describe("close", () => {
  it("sends the shutdown task: the worker ends by itself", async () => {
    const log: string[] = [];
    const worker = openStub({ onLog: (line) => log.push(line), limits: { graceMs: 30_000 } });
    await worker.call(hookTask("Echo"));
    await Promise.all([worker.close(), worker.close()]);
    expect(worker.state).toBe("closed");
    await expect(worker.features()).rejects.toMatchObject({ code: "WORKER_CLOSED" });
  });

  it("fails what waits and runs at once, and kills a deaf worker after the grace", async () => {
    const worker = openStub({ limits: { graceMs: 200 } });
    await worker.call(hookTask("Echo"));
    const { pid } = worker;
    const calls = [worker.call(hookTask("Hang")), worker.call(hookTask("Echo"))];
    const closing = worker.close();
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "WORKER_CLOSED" });
    await closing;
    expect(() => process.kill(pid ?? 0, 0)).toThrow("ESRCH");
  });

  it("before anything was started does nothing; while it starts leaves nothing", async () => {
    await openStub().close();
    const worker = openStub({ mode: "late" });
    const call = rejection(worker.call(hookTask("Echo")));
    await worker.close();
    expect(await call).toMatchObject({ code: "WORKER_CLOSED" });
    expect(worker.pid).toBeUndefined();
  });
});
