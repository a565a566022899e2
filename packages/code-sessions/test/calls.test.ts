import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../src/index.js";
import { openLocalSession } from "./guests/local-session.js";

const spin = "while True: pass";
const waiting = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.002)\n";
const go = (session: { files: { write(path: string, bytes: Uint8Array): Promise<unknown> } }): Promise<unknown> =>
  session.files.write("go", new Uint8Array());

describe("calls of one session", () => {
  it("run one at a time, in the order in which they came, each once", async () => {
    const { run } = await openLocalSession();
    const order: number[] = [];
    await run("seen = []");
    const calls = [...Array(20).keys()].map((i) => run(`seen.append(${i})`).then(({ count }) => order.push(count)));
    await Promise.all(calls);
    expect(order).toEqual([...Array(20).keys()].map((i) => i + 2));
    expect((await run("seen == list(range(20))")).result).toBe("True");
  });

  it("wait in a line of maxQueued; what waits and is aborted never runs", async () => {
    const { run, session } = await openLocalSession({ limits: { maxQueued: 2 } });
    const abort = new AbortController();
    const first = run(waiting);
    const second = run("b = 1", { signal: abort.signal });
    const third = run("c = 1");
    await expect(run("d = 1")).rejects.toMatchObject({ code: "QUEUE_FULL" });
    expect(session.status()).toMatchObject({ busy: true, queued: 2 });
    const reason = new Error("not any more");
    abort.abort(reason);
    await expect(second).rejects.toBe(reason);
    await go(session);
    expect((await first).status).toBe("ok");
    expect((await third).count).toBe(2);
    expect((await run("'b' in globals()")).result).toBe("False");
  });

  // The sleeps here are what is interrupted; none is waited for.
  it.each([
    { name: "Python", code: "import time\nwhile True: pass" },
    { name: "a sleep", code: "import time\ntime.sleep(60)" },
    { name: "an await", code: "import asyncio\nawait asyncio.sleep(60)" },
    { name: "a shell", code: "!sleep 60" },
    { name: "a read", code: "import os\nr, w = os.pipe()\nos.read(r, 1)" },
    { name: "a lock", code: "import threading\nthreading.Event().wait()" },
  ])("are interrupted when their time is over, and the session goes on: in $name", async ({ code }) => {
    const { run } = await openLocalSession();
    await run("import asyncio, threading, subprocess\nkept = 1");
    const told = await run(`print('before')\n${code}`, { timeoutMs: 300 });
    expect(told).toMatchObject({
      status: "timeout",
      stdout: { text: "before\n" },
      fault: { name: "KeyboardInterrupt" },
    });
    expect(told.reason).toContain("300 ms");
    expect((await run("kept")).result).toBe("1");
  });

  it("that do not answer the interrupt end the session after the grace", async () => {
    const { run, session, released } = await openLocalSession({ limits: { interruptMs: 100 } });
    const stubborn =
      "print('x')\ndef f():\n    while True: n = 1\nwhile True:\n    try: f()\n    except KeyboardInterrupt: pass";
    const told = run(stubborn, { timeoutMs: 200 });
    const next = run("1");
    expect(await told).toMatchObject({ status: "timeout", stdout: { text: "x\n" } });
    await expect(next).rejects.toMatchObject({ code: "SESSION_DEAD", end: { reason: "timeout" } });
    expect(session.status()).toMatchObject({ state: "dead", end: { reason: "timeout" } });
    expect(released).toEqual(["crash"]);
  });

  it("are interrupted as by Ctrl-C", async () => {
    const { run, begin, session } = await openLocalSession();
    expect(session.interrupt()).toBe(false);
    const { outcome } = await begin(spin);
    expect(session.interrupt()).toBe(true);
    expect(await outcome).toMatchObject({
      status: "interrupted",
      fault: { name: "KeyboardInterrupt" },
      reason: undefined,
    });
    expect((await run("2")).result).toBe("2");
  });

  it("are interrupted however early, and none before or after is hit", async () => {
    const { run, session } = await openLocalSession();
    for (let i = 0; i < 40; i += 1) {
      const call = run(i % 2 === 0 ? "import time\ntime.sleep(30)" : "5");
      for (let j = 0; j < i % 7; j += 1) await Promise.resolve();
      await new Promise(setImmediate);
      session.interrupt();
      expect((await call).status).toMatch(i % 2 === 0 ? /^interrupted$/ : /^(ok|interrupted)$/);
      expect(await run("6")).toMatchObject({ status: "ok", result: "6" });
    }
  });

  it("reject with the signal's reason, are interrupted by it, and the session goes on", async () => {
    const { run } = await openLocalSession();
    const abort = new AbortController();
    const reason = new Error("enough");
    const call = run(`print('on')\n${spin}`, { signal: abort.signal, onOutput: () => abort.abort(reason) });
    await expect(call).rejects.toBe(reason);
    expect((await run("7")).result).toBe("7");
    await expect(run("8", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it("with one idempotency key run once and share the outcome, also while it runs", async () => {
    const { run, session } = await openLocalSession();
    await run("runs = 0");
    const code = `global_runs = globals()\n${waiting}runs += 1\nruns`;
    const first = run(code, { idempotencyKey: "k" });
    const second = run(code, { idempotencyKey: "k" });
    await expect(run("other", { idempotencyKey: "k" })).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
    await go(session);
    expect(await second).toBe(await first);
    expect(await run(code, { idempotencyKey: "k" })).toBe(await first);
    expect((await run("runs")).result).toBe("1");
    const failing = "runs += 1\n1/0";
    expect((await run(failing, { idempotencyKey: "f" })).status).toBe("error");
    expect((await run(failing, { idempotencyKey: "f" })).status).toBe("error");
    expect((await run("runs")).result).toBe("2");
  });

  it("with a key go on while somebody waits, and are interrupted when nobody does", async () => {
    const { run, session } = await openLocalSession();
    const [one, other] = [new AbortController(), new AbortController()];
    const first = run(waiting, { idempotencyKey: "k", signal: one.signal });
    const second = run(waiting, { idempotencyKey: "k", signal: other.signal });
    one.abort(new Error("one"));
    await expect(first).rejects.toThrow("one");
    expect(session.status().busy).toBe(true);
    other.abort(new Error("other"));
    await expect(second).rejects.toThrow("other");
    expect((await run("1")).result).toBe("1");
    expect((await run(waiting, { idempotencyKey: "k" })).status).toBe("interrupted");
  });

  it("keep only so many outcomes for keys", async () => {
    const { run } = await openLocalSession({ limits: { maxOutcomes: 2 } });
    await run("runs = 0");
    for (const key of ["a", "b", "c", "a"]) await run("runs += 1", { idempotencyKey: key });
    expect((await run("runs")).result).toBe("4");
  });

  it.each([
    { options: { code: "x\0" }, code: "CODE_INVALID" },
    { options: { code: "x".repeat(1_025) }, code: "CODE_TOO_LARGE" },
    { options: { code: "1", timeoutMs: 0 }, code: "OPTION_INVALID" },
    { options: { code: "1", timeoutMs: 10_001 }, code: "OPTION_INVALID" },
    { options: { code: "1", idempotencyKey: "" }, code: "OPTION_INVALID" },
  ])("are refused before anything runs: $code", async ({ options, code }) => {
    const { session } = await openLocalSession({ limits: { maxCodeBytes: 1_024, maxCallMs: 10_000 } });
    await expect(session.execute(options)).rejects.toMatchObject({ name: "SessionError", code });
    expect(session.status().executions).toBe(0);
  });

  it("are recorded before they are handed over, and not handed over when that fails", async () => {
    const events: SessionEvent[] = [];
    let refuse = false;
    const record = async (event: SessionEvent): Promise<void> => {
      events.push(event);
      if (refuse) throw new Error("the log is full");
    };
    const { run, faults } = await openLocalSession({ record });
    const told = await run("x = 1");
    expect(events.map(({ kind }) => kind)).toEqual(["call.intent", "call.outcome"]);
    expect(events[0]).toMatchObject({
      owner: "alice",
      session: "s",
      codeBytes: 5,
      codeDigest: expect.stringMatching(/^sha256:/),
    });
    expect(events[1]).toMatchObject({ outcome: told, call: events[0]?.kind === "call.intent" ? events[0].call : "" });
    refuse = true;
    await expect(run("x = 2")).rejects.toThrow("the log is full");
    refuse = false;
    expect((await run("x")).result).toBe("1");
    expect(faults).toEqual([]);
  });

  it("go on when the caller's own listener throws", async () => {
    const { run, faults } = await openLocalSession();
    const fault = new Error("the listener's");
    const told = await run("print(1)\n2", {
      onOutput() {
        throw fault;
      },
    });
    expect(told).toMatchObject({ status: "ok", result: "2", stdout: { text: "1\n" } });
    expect(faults).toContain(fault);
  });

  it("are counted, timed and kept alive by use", async () => {
    const { run, session, touches } = await openLocalSession();
    const told = await run("x = sum(range(300_000))");
    expect(told.durationMs).toBeGreaterThan(0);
    expect(told.cpuMs).toBeGreaterThan(0);
    expect(session.status()).toMatchObject({
      id: "s",
      state: "active",
      executions: 1,
      busy: false,
      queued: 0,
      isolated: false,
    });
    expect(touches()).toBeGreaterThanOrEqual(2);
  });
});
