import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { openChild } from "../src/index.js";
import { PATH } from "./children.js";
import { bearersOf } from "./living.js";
import { bytes, createRecorder, failure } from "./recorder.js";

const registry = mkdtempSync(join(tmpdir(), "berth-many-"));
afterAll(() => rmSync(registry, { recursive: true, force: true }));

describe.each(["auto", "group"] as const)("many children one after the other (containment %s)", (containment) => {
  const cycles = scaledCount(`children opened and closed under containment ${containment}`, 1_000);

  it(`leave no descriptor, no process, no record and no memory behind (${cycles} cycles)`, async () => {
    const token = `many-${process.pid}-${containment}`;
    const cycle = async (n: number): Promise<void> => {
      const child = await openChild({
        file: "cat",
        args: [],
        env: { PATH, TOKEN: token },
        containment,
        registry,
        signal: new AbortController().signal,
      });
      const recorder = createRecorder();
      child.transport.start(recorder);
      await child.transport.send(bytes(`{"n":${n}}`));
      await recorder.framesCame(1);
      // One in four ends by itself, one in four is killed.
      if (n % 4 === 0) process.kill(child.pid, "SIGKILL");
      if (n % 4 === 1) await child.kill();
      else await child.close();
      await Promise.all([child.ended, child.pipesClosed]);
      if (n % 8 === 0) await failure(openChild({ file: "/nowhere/x", args: [], env: {}, containment, registry }));
    };
    for (let n = 0; n < 10; n++) await cycle(n);
    const before = { descriptors: descriptors(), heap: await heapBytes(), resources: resources() };
    for (let n = 0; n < cycles; n++) await cycle(n);
    expect(bearersOf(token)).toEqual([]);
    expect(readdirSync(registry)).toEqual([]);
    expect(descriptors()).toBeLessThanOrEqual(before.descriptors);
    expect(resources()).toBeLessThanOrEqual(before.resources);
    const grownBytes = (await heapBytes()) - before.heap;
    console.log(`the heap grew by ${Math.round(grownBytes / 1024)} KiB in ${cycles} cycles`);
    expect(grownBytes).toBeLessThan(4 * 1_048_576);
  }, 600_000);
});

function descriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Timers and handles that keep the process alive. */
function resources(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout" || name === "PipeWrap").length;
}

/** What is in use after a collection, which V8 lets one ask for once the flag is set. */
async function heapBytes(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  for (let n = 0; n < 3; n++) {
    if (typeof collect === "function") collect();
    await new Promise(setImmediate);
  }
  return process.memoryUsage().heapUsed;
}
