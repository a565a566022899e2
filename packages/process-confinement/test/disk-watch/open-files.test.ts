import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { lookAtAll } from "../../src/disk-watch/look.js";
import { lookAtOpenFiles } from "../../src/disk-watch/open-files.js";
import { watchFolders } from "../../src/disk-watch/watch-folders.js";
import type { Freezer } from "../../src/limits/freezer.js";
import { scratchFolder } from "./trees.js";

const never = new AbortController().signal;

/** A process that has said a line; ends with the test. */
async function started(script: string): Promise<number> {
  const child = spawn("/bin/sh", ["-c", script], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  });
  await once(child.stdout, "data");
  return child.pid ?? 0;
}

/** Waits for its input in the shell itself. */
const sleeps = "echo 1; read line";
const computes = "echo 1; while :; do :; done";
const forks = "echo 1; while :; do /bin/true; done";

/** Says that all stand still, or what it is told to; counts. */
function counting(standsStill = true): Freezer & { readonly freezes: () => number; readonly thaws: () => number } {
  const freeze = vi.fn(async () => standsStill);
  const thaw = vi.fn();
  const counts = { freezes: () => freeze.mock.calls.length, thaws: () => thaw.mock.calls.length };
  return { freeze, thaw, thawFile: undefined, ...counts };
}

describe("a look at open files", () => {
  it("holds nothing still that does nothing", async () => {
    const freezer = counting();
    const init = await started(sleeps);
    // It says its line before it waits.
    await expect
      .poll(async () => {
        const before = freezer.freezes();
        await lookAtOpenFiles(init, freezer, never);
        return freezer.freezes() - before;
      })
      .toBe(0);
  });

  it.each([
    { name: "computes", script: computes },
    { name: "starts processes", script: forks },
  ])("is made while it stands still of what $name, though its folders do not change", async ({ script }) => {
    const freezer = counting();
    const init = await started(script);
    const folder = { path: scratchFolder(), maxBytes: 2 ** 20 };
    // Of three, since who starts a process waits for it, and it may be asleep, too.
    for (let look = 0; look < 3; look++) await lookAtAll({ folders: [folder], init, freezer }, never);
    expect(freezer.freezes()).toBeGreaterThan(0);
    expect(freezer.thaws()).toBe(freezer.freezes());
  });

  it("counts where a thread does not come back from the kernel, unless a process comes meanwhile", async () => {
    await expect(lookAtOpenFiles(await started(computes), counting(false), never)).resolves.toBeInstanceOf(Map);
    const init = await started(forks);
    await expect(async () => {
      for (;;) await lookAtOpenFiles(init, counting(false), never);
    }).rejects.toThrow("do not stand still");
  });

  it("holds a sandbox still for a tenth of its time at most", async () => {
    vi.useFakeTimers({ toFake: ["performance", "setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const freezer = counting();
    let heldSince = 0;
    const held = vi.spyOn(freezer, "freeze").mockImplementation(async () => {
      heldSince = performance.now();
      vi.advanceTimersByTime(100);
      return true;
    });
    const watch = watchFolders({
      folders: [{ path: scratchFolder(), maxBytes: 2 ** 20 }],
      init: await started(computes),
      freezer,
      onExcess: () => expect.unreachable(),
      intervalMs: 5,
    });
    onTestFinished(() => watch.close());
    const looks = async (count: number): Promise<number> => {
      while (held.mock.calls.length < count) {
        vi.advanceTimersByTime(1);
        await new Promise(setImmediate);
      }
      return heldSince;
    };
    await looks(1);
    await looks(2);
    const second = heldSince;
    expect((await looks(3)) - second).toBeGreaterThanOrEqual(1_000);
  });
});
