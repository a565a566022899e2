import { describe, expect, it, onTestFinished } from "vitest";
import { readSessionTerms } from "../src/session-terms.js";
import { startWorker } from "../src/worker/start-worker.js";
import { createLocalLease } from "./guests/local-lease.js";

const terms = readSessionTerms();

describe("the start of a worker", () => {
  it.each([
    { name: "an interpreter that is not there", interpreter: "/nonexistent/python3", says: /127/ },
    { name: "a program that is no interpreter", interpreter: "/bin/true", says: /status|closed/ },
    { name: "one that says why on stderr", interpreter: "/bin/sh", says: /sh: /i },
  ])("is refused with what was seen: $name", async ({ interpreter, says }) => {
    const { lease, end } = await createLocalLease(interpreter);
    onTestFinished(() => end("released"));
    const starting = startWorker(lease, { terms });
    await expect(starting).rejects.toMatchObject({ name: "SessionError", code: "WORKER_NOT_STARTED" });
    await expect(starting).rejects.toThrow(says);
  });

  it("is refused when the lease gives no process, with its error as the cause", async () => {
    const { lease, end } = await createLocalLease();
    onTestFinished(() => end("released"));
    const cause = new Error("no room");
    const starting = startWorker({ ...lease, open: () => Promise.reject(cause) }, { terms });
    await expect(starting).rejects.toMatchObject({ code: "WORKER_NOT_STARTED", cause });
  });

  it("is refused when it takes longer than startMs", async () => {
    const { lease, guests, end } = await createLocalLease("/bin/cat");
    onTestFinished(() => end("released"));
    const silent = { ...lease, open: (_: readonly string[]) => lease.open(["/bin/sh", "-c", "exec sleep 60"]) };
    await expect(startWorker(silent, { terms: { ...terms, startMs: 50 } })).rejects.toThrow("not ready after 50 ms");
    for (const guest of guests) await guest.exited;
  });

  it("ends with the signal's reason, and leaves no process", async () => {
    const { lease, guests, end } = await createLocalLease("/bin/cat");
    onTestFinished(() => end("released"));
    const abort = new AbortController();
    const starting = startWorker(lease, { terms, signal: abort.signal });
    const reason = new Error("enough");
    abort.abort(reason);
    await expect(starting).rejects.toBe(reason);
    for (const guest of guests) await guest.exited;
  });

  it("needs no variable of the environment and no file of ours inside", async () => {
    const { lease, end } = await createLocalLease();
    onTestFinished(() => end("released"));
    const worker = await startWorker(lease, { terms });
    const { report } = worker.execute({
      code: "import os, sys\n[sorted(os.environ), os.listdir('.'), sys.argv, sys.stdin.name, sys.flags.isolated]",
      colours: false,
    });
    const { answer } = await report;
    // PWD is the test's shell's, LC_CTYPE the interpreter's own.
    expect(answer?.result).toMatch(/^\[\['LC_CTYPE', 'MPLBACKEND', 'PWD'\], \[\], \[''\], '<stdin>', 1\]$/);
    await worker.close();
    expect(await worker.gone).toMatchObject({ cause: "closed" });
  });

  it("leaves an idle worker that is small", async () => {
    const { lease, end } = await createLocalLease();
    onTestFinished(() => end("released"));
    await using worker = await startWorker(lease, { terms });
    const { report } = worker.execute({ code: "open('/proc/self/smaps_rollup').read()", colours: false });
    const rss = /Rss:\s+(\d+) kB/.exec((await report).answer?.result ?? "");
    expect(Number(rss?.[1])).toBeGreaterThan(4_000);
    expect(Number(rss?.[1])).toBeLessThan(32_000);
  });
});
