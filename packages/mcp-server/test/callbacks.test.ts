import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("./programs/rejecting-callbacks.mjs", import.meta.url));

describe("a process with a server in it", () => {
  it("survives every callback that rejects and every task that throws, and counts or reports them", () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, ["--unhandled-rejections=strict", program], {
      encoding: "utf8",
      timeout: 20_000,
    });
    expect(stderr).toBe("");
    expect(stdout.trim().split("\n")).toEqual([
      "observer: the handler broke, 1 failures",
      "observer that returns a broken thenable: the handler broke, 1 failures",
      "onObserverError: the handler broke, 1 failures",
      "instrumentation.begin: the handler broke, 3 failures", // it rejects, and a promise has neither within nor end
      "instrumentation.within that derives a promise: the handler broke, 0 failures",
      "instrumentation.within that is async: the handler broke, 0 failures",
      "instrumentation.within that rejects: the handler broke, 1 failures",
      "instrumentation.end: the handler broke, 1 failures",
      "tasks.onUnexpectedError: failed -32603",
      "http onUnexpectedError: 200",
      "http logger: 200",
      "stdio onUnexpectedError: 1",
      "stdio logger: 1",
      "auth onRefused: 401",
      "auth onKeysError: 503",
      "auth onUnavailable: 503",
      "task-bigint: failed -32603, reported 1",
      "task-cycle: failed -32603, reported 1",
      "task-proxy: failed -32603, reported 1",
      "task-nothing: failed -32603, reported 1",
      "task-started: failed -32603, reported 1",
    ]);
    expect(status).toBe(0);
  });
});
