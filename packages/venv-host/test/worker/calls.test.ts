import { describe, expect, it } from "vitest";
import { openWorker } from "../../src/worker/open-worker.js";
import { hookTask, openStub, systemPython } from "./workers.js";

describe("a call", () => {
  it("round trip strips request_id", async () => {
    const worker = openStub();
    const answer = await worker.call(hookTask("Echo", { a: 1 }));
    expect(answer).toMatchObject({ continue_processing: true, metadata: { task: { payload: { a: 1 } } } });
    expect(answer).not.toHaveProperty("request_id");
    expect(worker.state).toBe("running");
  });

  it("bears a UUID of version 4 as its id", async () => {
    const worker = openStub();
    const answer = await worker.call(hookTask("Echo"));
    expect(answer).toMatchObject({ metadata: { task: { request_id: expect.stringMatching(/^[\da-f-]{14}4/u) } } });
  });

  it.each([2, 100])("%i at once: each gets its own answer, from one process", async (count) => {
    const worker = openStub();
    const calls = Array.from({ length: count }, (_, n) => worker.call(hookTask("Echo", { n })));
    const answers = await Promise.all(calls);
    expect(answers).toMatchObject(answers.map((_, n) => ({ metadata: { task: { payload: { n } } } })));
    expect(new Set(answers.map((answer) => JSON.stringify(answer["metadata"]).match(/"pid":\d+/u)?.[0])).size).toBe(1);
  });

  it("text of every kind comes back as it was, whatever the machine's language is", async () => {
    const text = 'ä €  \u0000 \ud83d\ude00 \ud800 \n\r"\\';
    const worker = openStub({
      env: { LC_ALL: "C", PYTHONIOENCODING: "utf-8", PYTHONCOERCECLOCALE: "0", PYTHONUTF8: "0" },
    });
    expect(await worker.call(hookTask("Echo", { text }))).toMatchObject({ metadata: { task: { payload: { text } } } });
  });

  it("an error of the worker keeps its text", async () => {
    const worker = openStub();
    await expect(worker.call(hookTask("Fail", { text: "no such column" }))).rejects.toMatchObject({
      code: "WORKER_ERROR",
      message: "Unexpected error: no such column",
    });
    await expect(worker.call({ ...hookTask("Echo"), task_type: "info" })).resolves.toMatchObject({ status: "success" });
  });

  it("that takes too long ends with WORKER_TIMEOUT, and the next one gets a new process", async () => {
    const worker = openStub({ limits: { callTimeoutMs: 2_000 } });
    await worker.call(hookTask("Echo"));
    const first = worker.pid;
    await expect(worker.call(hookTask("Slow", { ms: 60_000 }))).rejects.toMatchObject({
      code: "WORKER_TIMEOUT",
      details: { timeoutMs: 2_000 },
    });
    expect(await worker.call(hookTask("Echo"))).toHaveProperty("metadata");
    expect(worker.pid).not.toBe(first);
  });

  it("that is late is dropped, and does not become the next one's answer, when timeouts are tolerated", async () => {
    const worker = openStub({ limits: { callTimeoutMs: 2_000, maxTimeouts: 2 } });
    await worker.call(hookTask("Echo"));
    const first = worker.pid;
    await expect(worker.call(hookTask("Slow", { ms: 2_500, n: 1 }))).rejects.toMatchObject({ code: "WORKER_TIMEOUT" });
    expect(await worker.call(hookTask("Slow", { ms: 1, n: 2 }))).toMatchObject({ metadata: { n: 2 } });
    expect(worker.pid).toBe(first);
  });

  it("the time of a call does not run while a new process loads what it needs", async () => {
    const worker = openStub({ mode: "late", limits: { callTimeoutMs: 2_000, probeTimeoutMs: 2_000 } });
    expect(await worker.call(hookTask("Echo"))).toHaveProperty("metadata");
    expect(await worker.features()).toMatchObject({ features: expect.arrayContaining(["credential"]) });
  });
});

describe("an abort", () => {
  it("before the call rejects with its reason and starts nothing", async () => {
    const worker = openStub();
    const reason = new Error("gone");
    await expect(worker.call(hookTask("Echo"), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(worker.state).toBe("idle");
  });

  it("while it waits takes it out: it is never sent", async () => {
    const worker = openStub();
    const aborting = new AbortController();
    const slow = worker.call(hookTask("Slow", { ms: 300 }));
    const waiting = worker.call(hookTask("Echo"), { signal: aborting.signal });
    aborting.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    await slow;
    expect(await worker.call(hookTask("Echo"))).toMatchObject({ metadata: { made: 2 } });
  });

  it("while it runs ends the wait only: its answer is dropped, and the next call has its own", async () => {
    const worker = openStub();
    await worker.call(hookTask("Echo"));
    const aborting = new AbortController();
    const running = worker.call(hookTask("Slow", { ms: 300, n: 1 }), { signal: aborting.signal });
    aborting.abort(new Error("gone"));
    await expect(running).rejects.toThrow("gone");
    expect(await worker.call(hookTask("Slow", { ms: 1, n: 2 }))).toMatchObject({ metadata: { n: 2 } });
  });

  it("of a call that hangs does not hold up the others longer than its own time", async () => {
    const worker = openStub({ limits: { callTimeoutMs: 2_000 } });
    await worker.call(hookTask("Echo"));
    const aborting = new AbortController();
    const hanging = worker.call(hookTask("Hang"), { signal: aborting.signal });
    const next = worker.call(hookTask("Echo"));
    aborting.abort(new Error("gone"));
    await expect(hanging).rejects.toThrow("gone");
    expect(await next).toHaveProperty("metadata");
  });
});

describe("what waits is bounded", () => {
  it("in number", async () => {
    const worker = openStub({ limits: { maxPendingCalls: 2 } });
    const calls = [1, 2, 3].map((n) => worker.call(hookTask("Echo", { n })));
    await expect(calls[2]).rejects.toMatchObject({ code: "WORKER_BUSY" });
    await Promise.all(calls.slice(0, 2));
  });

  it("in number, and a refused call whose signal is aborted later does no harm", async () => {
    const worker = openStub({ limits: { maxPendingCalls: 1 } });
    const aborting = new AbortController();
    const kept = worker.call(hookTask("Echo"));
    await expect(worker.call(hookTask("Echo"), aborting)).rejects.toMatchObject({ code: "WORKER_BUSY" });
    aborting.abort(new Error("gone")); // an unhandled rejection fails the run
    expect(await kept).toHaveProperty("metadata");
  });

  it("in bytes", async () => {
    const worker = openStub({ limits: { maxContentBytes: 2_048 } });
    const calls = Array.from({ length: 6 }, () => worker.call(hookTask("Slow", { ms: 1, fill: "x".repeat(1_400) })));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toContain("rejected");
    expect(outcomes.map(({ status }) => status)).toContain("fulfilled");
  });
});

describe("options", () => {
  const good = { python: "/usr/bin/python3", script: "/worker.py", cwd: "/", env: {} };
  it.each([
    { name: "a relative interpreter", options: { ...good, python: "python3" } },
    { name: "a limit of zero", options: { ...good, limits: { callTimeoutMs: 0 } } },
    { name: "a limit that is no number", options: { ...good, limits: { maxContentBytes: Number.NaN } } },
    { name: "a misspelled limit", options: { ...good, limits: { callTimeoutMS: 5 } } },
    { name: "a misspelled option", options: { ...good, environ: {} } },
  ])("$name is OPTION_INVALID", ({ options }) => {
    expect(() => openWorker(options)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it("a task that is no JSON is OPTION_INVALID, and its text is not shown", async () => {
    const worker = openStub();
    const cyclic: Record<string, unknown> = { token: "secret-of-the-task" };
    cyclic["self"] = cyclic;
    const refused: unknown = await worker.call(hookTask("Echo", cyclic)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "OPTION_INVALID" });
    expect(String(refused)).not.toContain("secret");
  });
});

describe("a worker that cannot start", () => {
  it.each([
    { name: "a missing interpreter", options: { python: "/nowhere/bin/python" }, text: /no interpreter: \/nowhere/u },
    { name: "a missing worker", options: { script: "/nowhere/worker.py" }, text: /no CPEX worker: \/nowhere/u },
    { name: "a missing folder", options: { cwd: "/nowhere" }, text: /\/nowhere/u },
    { name: "an interpreter that is no program", options: { python: "/etc/passwd" }, text: /\/etc\/passwd/u },
  ])("$name is WORKER_START_FAILED", async ({ options, text }) => {
    const worker = openStub(options);
    await expect(worker.call(hookTask("Echo"))).rejects.toMatchObject({
      code: "WORKER_START_FAILED",
      message: expect.stringMatching(text),
    });
    expect(worker.state).toBe("dead");
  });

  it("says what it wrote before it ended, and is not started again", async () => {
    const log: string[] = [];
    const worker = openStub({ mode: "exits", onLog: (line) => log.push(line) });
    const failure = {
      code: "WORKER_START_FAILED",
      message: expect.stringContaining("no module named pydantic"),
      details: { exitCode: 3, step: "start", stderrExcerpt: "ImportError: no module named pydantic" },
    };
    await expect(worker.features()).rejects.toMatchObject(failure);
    await expect(worker.call(hookTask("Echo"))).rejects.toMatchObject(failure);
    expect(log).toEqual(["ImportError: no module named pydantic"]);
  });

  it("an absolute script path is used as it is", async () => {
    expect(await openStub({ python: systemPython() }).call(hookTask("Echo"))).toHaveProperty("metadata");
  });
});
