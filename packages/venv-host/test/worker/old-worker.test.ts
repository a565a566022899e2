import { describe, expect, it } from "vitest";
import { hookTask, openStub } from "./workers.js";

describe("an old worker, which answers what it does not know with the id unknown", () => {
  it("has no features, and says so at once", async () => {
    const worker = openStub({ mode: "old", limits: { probeTimeoutMs: 60_000 } });
    expect(await worker.features()).toEqual({ protocolVersion: undefined, features: [], cpexVersion: undefined });
  });

  it("its errors reach the call that runs, at once", async () => {
    const worker = openStub({ mode: "old", limits: { callTimeoutMs: 60_000 } });
    await expect(worker.call(hookTask("Fail", { text: "no" }))).rejects.toMatchObject({
      code: "WORKER_ERROR",
      message: "Unexpected error: no",
    });
    expect(await worker.call(hookTask("Echo", { n: 1 }))).toMatchObject({ metadata: { task: { payload: { n: 1 } } } });
  });

  it("an error of a call that was given up is not the next one's", async () => {
    const worker = openStub({ mode: "old", limits: { callTimeoutMs: 2_000, maxTimeouts: 2 } });
    await worker.call(hookTask("Echo"));
    const slowFailure = hookTask("Raw", { text: "" });
    await expect(worker.call(slowFailure)).rejects.toMatchObject({ code: "WORKER_TIMEOUT" });
    const forged = hookTask("Raw", {
      text: '{"status":"error","message":"of the first","request_id":"unknown"}\n{"metadata":{"n":2},"request_id":"$ID"}\n',
    });
    expect(await worker.call(forged)).toEqual({ metadata: { n: 2 } });
  });

  it("a worker that never answers the question has no features after the short time for it", async () => {
    const worker = openStub({ mode: "mute", limits: { probeTimeoutMs: 200 } });
    expect(await worker.features()).toMatchObject({ features: [] });
    expect(await worker.call(hookTask("Echo"))).toHaveProperty("metadata");
  });

  it("a new one tells what it can", async () => {
    expect(await openStub().features()).toEqual({
      protocolVersion: 1,
      features: ["credential", "extensions", "modified_extensions"],
      cpexVersion: "0.1.4",
    });
  });
});
