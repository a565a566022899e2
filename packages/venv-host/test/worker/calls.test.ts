import { describe, expect, it } from "vitest";
import { hookTask, openStub } from "./workers.js";

describe("a call", () => {
  it("round trip strips request_id", async () => {
    const worker = openStub();
    const answer = await worker.call(hookTask("Echo", { a: 1 }));
    expect(answer).toMatchObject({ continue_processing: true, metadata: { task: { payload: { a: 1 } } } });
    expect(answer).not.toHaveProperty("request_id");
    expect(worker.state).toBe("running");
  });
});
