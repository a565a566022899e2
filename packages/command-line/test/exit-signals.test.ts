import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { listenForExit, untilAborted } from "../src/index.js";
import { start } from "./harbour.js";

describe("the end of a process", () => {
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("is waited for, and told by its cause: %s", async (name) => {
    const { child, finished } = start(["wait"]);
    if (child.stderr !== null) await once(child.stderr, "data"); // it says that it waits
    child.kill(name);
    const { code, stdout, stderr } = await finished;
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    const logged = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(logged).toMatchObject([
      { level: 30, msg: "waiting" },
      { msg: "ended", cause: name },
    ]);
    expect(logged[0].time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u);
  });

  it("can be waited for, also when it has come already", async () => {
    const ending = new AbortController();
    const waits = [untilAborted(ending.signal), untilAborted(AbortSignal.abort())];
    await waits[1];
    ending.abort();
    await waits[0];
  });

  it("may be an exception that nobody caught, which is told", async () => {
    const { child, finished } = start(["wait"]);
    if (child.stderr !== null) await once(child.stderr, "data");
    child.stdin?.write("x");
    const { code, stderr } = await finished;
    expect(code).toBe(0);
    expect(
      stderr
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { msg: "waiting" },
      { level: 60, msg: "a fault", err: { message: "thrown" } },
      { msg: "ended", cause: "exception" },
    ]);
  });

  it("is not SIGHUP where that is for something else, and nothing is left listening after release", () => {
    const names = ["SIGINT", "SIGTERM", "SIGHUP", "uncaughtException"];
    const listeners = (): number[] => names.map((name) => process.listenerCount(name));
    const before = listeners();
    let hangups = 0;
    const exits = listenForExit({
      onHangup: () => {
        hangups += 1;
      },
    });
    expect(listeners()).toEqual(before.map((count) => count + 1));
    process.emit("SIGHUP", "SIGHUP");
    expect([hangups, exits.signal.aborted, exits.cause()]).toEqual([1, false, undefined]);
    process.emit("SIGTERM", "SIGTERM");
    process.emit("SIGINT", "SIGINT");
    expect([exits.signal.aborted, exits.cause()]).toEqual([true, "SIGTERM"]);
    exits.release();
    expect(listeners()).toEqual(before);
  });
});
