import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { openLocalSession } from "./guests/local-session.js";

/** Of an event, not of a time that is over: those are a minute and more. A second is kept on a quiet machine only. */
const atOnceMs = 15_000;

describe("the end of a session", () => {
  it.each([
    { name: "os._exit", code: "import os\nos._exit(3)", reason: "exit", detail: "exited with status 3" },
    { name: "a fault of native code", code: "import ctypes\nctypes.string_at(0)", reason: "signal", detail: "SIGSEGV" },
    {
      name: "SIGKILL",
      code: "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
      reason: "signal",
      detail: "SIGKILL",
    },
    {
      name: "SIGTERM",
      code: "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
      reason: "signal",
      detail: "SIGTERM",
    },
  ])("by $name fails the call at once, says why, and refuses what waits", async ({ code, reason, detail }) => {
    const { run, session, released } = await openLocalSession();
    const startedAt = performance.now();
    const told = run(`print('last words', flush=True)\n${code}`);
    const waiting = run("1");
    expect(await told).toMatchObject({ status: "dead", reason: expect.stringContaining(detail), fault: undefined });
    expect(performance.now() - startedAt).toBeLessThan(atOnceMs);
    await expect(waiting).rejects.toMatchObject({ code: "SESSION_DEAD" });
    await expect(run("1")).rejects.toMatchObject({ code: "SESSION_DEAD", end: { reason } });
    await expect(session.variables()).rejects.toMatchObject({ code: "SESSION_DEAD" });
    await expect(session.files.read("x")).rejects.toMatchObject({ code: "SESSION_DEAD" });
    expect(await session.ended).toMatchObject({ reason, detail: expect.stringContaining(detail) });
    expect(session.status()).toMatchObject({ state: "dead", busy: false, end: { reason } });
    expect(released).toEqual(["crash"]);
    await session.stop();
  });

  it("by os._exit keeps what was printed before", async () => {
    const { run } = await openLocalSession();
    const told = await run("import os\nfor i in range(1_000): print(i)\nos._exit(0)");
    expect(told).toMatchObject({ status: "dead", stdout: { bytes: 3_890 } });
    expect(told.stdout.text).toMatch(/\n999\n$/);
  });

  it("comes while nothing runs, too", async () => {
    const { run, session } = await openLocalSession();
    await run("import os, threading\nthreading.Timer(0.02, os._exit, [9]).start()");
    expect(await session.ended).toMatchObject({ reason: "exit", detail: "exited with status 9" });
    await expect(run("1")).rejects.toMatchObject({ code: "SESSION_DEAD" });
  });

  it("at any moment gives each call one outcome, and no code runs twice", async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-once-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const count = scaledCount("workers killed at different moments", 300);
    for (let i = 0; i < count; i += 1) {
      const { session, guests, run } = await openLocalSession();
      const mark = join(folder, String(i));
      const code = `f = open(${JSON.stringify(mark)}, 'ab', buffering=0)\nf.write(b'x')\n${i}`;
      const calls = [run(code, { idempotencyKey: "k" }), run(code, { idempotencyKey: "k" })];
      for (let turns = (i * 7) % 40; turns > 0; turns -= 1) await new Promise(setImmediate);
      guests[0]?.signal("SIGKILL");
      const settled = await Promise.allSettled([...calls, run(code, { idempotencyKey: "k" })]);
      const told = settled.map((one) => (one.status === "fulfilled" ? one.value.status : "refused"));
      const runs = await readFile(mark).then(
        (bytes) => bytes.length,
        () => 0,
      );
      expect(runs).toBeLessThanOrEqual(1);
      if (told[0] === "ok") expect(runs).toBe(1);
      if (told[0] === "refused") expect(runs).toBe(0);
      expect(told[1]).toBe(told[0]);
      expect((await session.ended).reason).toBe("signal");
    }
  });

  // Here and below: the sleep is what the end cuts short; nobody waits for it.
  it.each([
    { lease: "hard-limit", reason: "expired" },
    { lease: "idle", reason: "expired" },
    { lease: "shutdown", reason: "shutdown" },
    { lease: "operator", reason: "stopped" },
    { lease: "lost", reason: "lost" },
    { lease: "disk", reason: "disk" },
    { lease: "output", reason: "output" },
  ] as const)("with its lease has the reason of the lease: $lease is $reason", async ({ lease, reason }) => {
    const { session, begin, end } = await openLocalSession();
    const { outcome } = await begin("import time\ntime.sleep(30)");
    await end(lease, { reason: "closed", detail: "closed" });
    expect((await outcome).status).toBe("dead");
    expect(await session.ended).toMatchObject({ reason, detail: lease });
  });

  it.each([
    { reason: "memory", detail: "over 64 MiB" },
    { reason: "disk", detail: "a mount held too much" },
    { reason: "output", detail: "said too much" },
  ] as const)("over a limit is told as such when the environment says so: $reason", async ({ reason, detail }) => {
    const { session, begin, end } = await openLocalSession();
    const { outcome } = await begin("import time\ntime.sleep(30)");
    // The lease itself was ended as a crash: that its worker was gone was seen before why.
    await end("crash", { reason, detail });
    expect(await outcome).toMatchObject({ status: "dead", reason: expect.stringContaining(detail) });
    expect(await session.ended).toMatchObject({ reason, detail });
    expect(session.status()).toMatchObject({ state: "dead", end: { reason } });
  });

  it("by stop interrupts what runs, refuses what waits, and waits for the end of the lease", async () => {
    const { run, begin, session, released, guests } = await openLocalSession();
    const { outcome } = await begin("while True: pass");
    const waiting = expect(run("1")).rejects.toMatchObject({ code: "SESSION_STOPPED" });
    const stops = [session.stop(), session.stop(), session[Symbol.asyncDispose]()];
    expect((await outcome).status).toBe("interrupted");
    await Promise.all([...stops, waiting]);
    expect(released).toEqual(["released"]);
    expect(await guests[0]?.exited).toMatchObject({ signal: "SIGKILL" });
    expect(await session.ended).toMatchObject({ reason: "stopped" });
    expect(session.status().state).toBe("stopped");
    await expect(run("1")).rejects.toMatchObject({ code: "SESSION_STOPPED" });
    await expect(session.files.list()).rejects.toMatchObject({ code: "SESSION_STOPPED" });
  });

  it("by the end of its host is no stop of its owner's, for the lease and for who waits too", async () => {
    const host = new AbortController();
    const { run, begin, session, released } = await openLocalSession({ closing: host.signal });
    const { outcome } = await begin("while True: pass");
    const waiting = expect(run("1")).rejects.toMatchObject({ code: "SESSION_DEAD" });
    host.abort();
    await session.stop();
    expect((await outcome).status).toBe("interrupted");
    await waiting;
    expect(released).toEqual(["shutdown"]);
    expect(session.status()).toMatchObject({ state: "dead", end: { reason: "shutdown" } });
    await expect(run("1")).rejects.toMatchObject({ code: "SESSION_DEAD", end: { reason: "shutdown" } });
  });

  it("by stop kills what does not answer within the grace", async () => {
    const { begin, session } = await openLocalSession({ limits: { interruptMs: 100 } });
    const { outcome } = await begin(
      "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('on')\nwhile True: n = 1",
    );
    const before = performance.now();
    await session.stop();
    expect(performance.now() - before).toBeLessThan(atOnceMs);
    expect((await outcome).status).toBe("dead");
    expect(await session.ended).toMatchObject({ reason: "stopped" });
  });
});
