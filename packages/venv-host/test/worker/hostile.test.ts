import { describe, expect, it } from "vitest";
import { hookTask, openStub } from "./workers.js";

describe("a plugin that misbehaves", () => {
  it("floods stderr: the worker lives and memory is bounded", async () => {
    let bytes = 0;
    const worker = openStub({ onLog: (line) => (bytes += line.length) });
    await worker.call(hookTask("Echo"));
    const before = process.memoryUsage().rss;
    expect(await worker.call(hookTask("Loud", { chars: 1_000, lines: 50_000 }))).toHaveProperty("continue_processing");
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
    expect(bytes).toBeGreaterThan(0);
    expect(await worker.call(hookTask("Echo"))).toHaveProperty("metadata");
  });

  it("writes a line of stderr without an end in sight: it is cut, and says so", async () => {
    const log: string[] = [];
    const worker = openStub({ onLog: (line) => log.push(line) });
    await worker.call(hookTask("Loud", { chars: 5_000_000, lines: 1 }));
    await worker.close();
    expect(log.find((line) => line.startsWith("ee"))).toMatch(/^e{8192} … 4991808 bytes left out$/u);
  });

  it("leaves a process behind that holds all pipes: calls go on, and it ends with the worker", async () => {
    const worker = openStub();
    await worker.call(hookTask("Fork"));
    expect(await worker.call(hookTask("Echo"))).toHaveProperty("metadata");
    await worker.close();
  });

  it("hangs, deaf to SIGTERM: it costs its time and its process", async () => {
    const worker = openStub({ limits: { callTimeoutMs: 2_000 } });
    await worker.call(hookTask("Echo"));
    const { pid } = worker;
    await expect(worker.call(hookTask("Hang"))).rejects.toMatchObject({ code: "WORKER_TIMEOUT" });
    expect(await worker.call(hookTask("Echo"))).toHaveProperty("metadata");
    expect(() => process.kill(pid ?? 0, 0)).toThrow("ESRCH");
  });

  it.each([
    { name: "deep JSON", text: `${"[".repeat(200_000)}\n{"request_id":"$ID"}\n` },
    { name: "__proto__", text: '{"__proto__":{"polluted":1},"request_id":"$ID"}\n' },
    { name: "an answer with a list as id", text: '{"request_id":["$ID"]}\n{"request_id":"$ID"}\n' },
  ])("$name does no harm", async ({ text }) => {
    const worker = openStub();
    await worker.call(hookTask("Raw", { text }));
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    expect(await worker.call(hookTask("Echo"))).toHaveProperty("metadata");
  });

  it.each([
    { name: "a frame nested two hundred thousand times", inner: `${"[".repeat(200_000)}${"]".repeat(200_000)}` },
    { name: "numbers that no number holds", inner: `[1e999,-1e999,${"9".repeat(100_000)}]` },
    { name: "half characters", inner: '"\\ud800 \\udfff"' },
    { name: "names of prototypes", inner: '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}' },
    { name: "its id twice", inner: '1,"request_id":"of another call"' },
    { name: "a list in the place of a status", inner: '1,"status":["error"],"message":7' },
  ])("an answer with $name reaches its caller, and the next one too", async ({ inner }) => {
    const worker = openStub();
    const answer = await worker.call(hookTask("Raw", { text: `{"metadata":${inner},"request_id":"$ID"}\n` }));
    expect(answer).toHaveProperty("metadata");
    expect(answer).not.toHaveProperty("request_id");
    expect(Object("x").polluted).toBeUndefined();
    expect(await worker.call(hookTask("Echo"))).toHaveProperty("metadata");
  });

  it("answers after the close of its worker: nobody hears it, and nothing of it is left", async () => {
    const worker = openStub({ limits: { graceMs: 2_000 } });
    await worker.call(hookTask("Echo"));
    const { pid } = worker;
    const late = worker.call(hookTask("Slow", { ms: 300 }));
    const closing = worker.close();
    await expect(late).rejects.toMatchObject({ code: "WORKER_CLOSED" });
    await closing;
    expect(worker.state).toBe("closed");
    expect(() => process.kill(pid ?? 0, 0)).toThrow("ESRCH");
  });

  it("forges an error with the id unknown: only its own call is hit", async () => {
    const worker = openStub();
    const forged = worker.call(hookTask("Raw", { text: '{"status":"error","message":"x","request_id":"unknown"}\n' }));
    await expect(forged).rejects.toMatchObject({ code: "WORKER_ERROR" });
    expect(await worker.call(hookTask("Echo"))).toHaveProperty("metadata");
  });
});
