import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { childrenOfThisFile, longGraces, python, sh } from "./children.js";
import { bearersOf } from "./living.js";
import { soon } from "./recorder.js";

const opened = childrenOfThisFile();
const itWithPython = partTest("python3");

describe.each(["auto", "group"] as const)("the end of a child (containment %s)", (containment) => {
  it("is the end of its input for a command that heeds it", async () => {
    const { child, token } = await opened({ file: "cat", containment, graceMs: longGraces });
    await soon(child.close(), "the close");
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(bearersOf(token)).toEqual([]);
  });

  it("comes by SIGTERM, long before SIGKILL is due, for a command without a handler: it is never process 1", async () => {
    const { child, token } = await opened({
      file: "sleep",
      args: ["600"],
      containment,
      graceMs: { inputMs: 0, terminateMs: 60_000 },
    });
    await soon(child.close(), "the close");
    expect(await child.exited).toEqual({ code: null, signal: "SIGTERM" });
    expect(bearersOf(token)).toEqual([]);
  });

  it("lets a command with a handler for SIGTERM end in its own way", async () => {
    const script = `trap 'echo bye >&2; exit 9' TERM; echo '{"ready":true}'; while :; do sleep 0.02; done`;
    const { child, recorder } = await opened({
      ...sh(script),
      containment,
      graceMs: { inputMs: 0, terminateMs: 60_000 },
    });
    await recorder.framesCame(1);
    await soon(child.close(), "the close");
    expect(await child.exited).toEqual({ code: 9, signal: null });
    expect(Buffer.from(child.stderr.tail()).toString()).toContain("bye\n");
  });

  itWithPython("comes by SIGKILL for a command that ignores SIGTERM, not before it was due", async () => {
    const { child, recorder, token } = await opened({
      ...python("stubborn.py"),
      containment,
      graceMs: { inputMs: 50, terminateMs: 200 },
    });
    await recorder.framesCame(1);
    const begun = performance.now();
    await soon(child.close(), "the close");
    expect(performance.now() - begun).toBeGreaterThanOrEqual(249);
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(bearersOf(token)).toEqual([]);
  });

  itWithPython("comes at once by `kill`, also while `close` waits for an earlier stage", async () => {
    const { child, recorder, token } = await opened({ ...python("stubborn.py"), containment, graceMs: longGraces });
    await recorder.framesCame(1);
    const closed = child.close();
    await soon(Promise.all([child.kill(), closed]), "kill and close");
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(bearersOf(token)).toEqual([]);
  });

  it("is one end, however often and from whatever side it is asked for", async () => {
    const { child, recorder } = await opened({ file: "cat", containment });
    const all = [child.close(), child.transport.close(), child[Symbol.asyncDispose](), child.close()];
    await soon(Promise.all(all), "all of them");
    await soon(Promise.all([child.close(), child.kill(), child.ended, child.pipesClosed]), "those that come later");
    expect(recorder.closes).toEqual([undefined]);
  });

  itWithPython("is not delayed by a grandchild that holds the pipes: neither the exit nor `close`", async () => {
    const { child, recorder, token } = await opened({ ...python("family.py"), containment, graceMs: longGraces });
    await recorder.framesCame(1);
    await expect.poll(() => bearersOf(token)).toHaveLength(2);
    await soon(child.close(), "the close");
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(bearersOf(token)).toEqual([]);
  });

  for (const words of [
    ["ignore"],
    ["setsid"],
    ["setsid", "ignore"],
    ["setsid", "daemon", "quiet"],
    ["setsid", "daemon", "quiet", "ignore"],
  ]) {
    itWithPython(`takes a grandchild along that was made by: ${words.join(", ")}`, async () => {
      const { child, recorder, token } = await opened({
        ...python("family.py", ...words),
        containment,
        graceMs: { inputMs: 60_000, terminateMs: 300 },
      });
      await recorder.framesCame(1);
      await expect.poll(() => bearersOf(token)).toHaveLength(2);
      await soon(child.close(), "the close");
      expect(await child.exited).toEqual({ code: 0, signal: null });
      expect(bearersOf(token)).toEqual([]);
    });

    itWithPython(`comes by itself when the command leaves a process behind: ${words.join(", ")}`, async () => {
      const { child, recorder, token } = await opened({
        ...python("family.py", "leave", ...words),
        containment,
        graceMs: { inputMs: 60_000, terminateMs: 300 },
      });
      expect(await soon(recorder.closed, "the close")).toMatchObject({ code: "CHILD_EXITED" });
      await soon(child.ended, "the end of all");
      expect(bearersOf(token)).toEqual([]);
    });
  }

  itWithPython("has an exit that comes before the end of the pipes, when a grandchild holds them", async () => {
    const { child, token } = await opened({
      ...python("family.py", "leave", "ignore"),
      containment,
      graceMs: { terminateMs: 60_000 },
    });
    const order: string[] = [];
    void child.exited.then(() => order.push("exited"));
    void child.pipesClosed.then(() => order.push("pipesClosed"));
    expect(await soon(child.exited, "the exit")).toEqual({ code: 0, signal: null });
    await new Promise(setImmediate);
    expect(order).toEqual(["exited"]);
    await expect.poll(() => bearersOf(token)).toHaveLength(1);
    await child.kill();
    await soon(child.pipesClosed, "the end of the pipes");
    expect(order).toEqual(["exited", "pipesClosed"]);
  });

  it("has an end of the pipes that comes before the exit, when the command lets go of them", async () => {
    const { child } = await opened({ ...sh("exec 1>&- 2>&-; exec sleep 600"), containment, graceMs: longGraces });
    await soon(child.pipesClosed, "the end of the pipes");
    expect(await Promise.race([child.exited, new Promise((resolve) => setImmediate(resolve, "runs"))])).toBe("runs");
    await child.kill();
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("comes by itself for the whole group when the command was killed", async () => {
    const script = `sleep 600 & echo '{"ready":true}'; wait`;
    const { child, recorder, token } = await opened({ ...sh(script), containment, graceMs: longGraces });
    await recorder.framesCame(1);
    await expect.poll(() => bearersOf(token)).toHaveLength(2);
    process.kill(child.pid, "SIGKILL");
    expect(await soon(recorder.closed, "the close")).toMatchObject({ code: "CHILD_EXITED" });
    await soon(child.ended, "the end of all");
    expect(bearersOf(token)).toEqual([]);
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("takes all processes along when the supervisor is killed", async () => {
    const script = `sleep 600 & echo '{"ready":true}'; wait`;
    const { child, recorder, token } = await opened({ ...sh(script), containment, graceMs: longGraces });
    await recorder.framesCame(1);
    process.kill(parentOf(child.pid), "SIGKILL");
    await soon(recorder.closed, "the close");
    await soon(child.ended, "the end of all");
    expect(bearersOf(token)).toEqual([]);
  });
});

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
