import { execFileSync } from "node:child_process";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished, describe as suite } from "vitest";
import {
  createMeasurer,
  type Measurer,
  type MeasurerOptions,
  measureLaunch,
  type SpawnDescription,
} from "../src/index.js";
import { pathOfText } from "../src/measure/byte-path.js";
import { busy } from "../src/measure/identity.js";
import { createFileDigests } from "../src/measure/program-digests.js";
import { tracePath } from "../src/measure/trace.js";
import { testFolder } from "./support/folder.js";
import { describe, env, nodePath, refusal } from "./support/launch.js";
import { sourceMeasurer } from "./support/source-measurer.js";

function measurerFor(options: MeasurerOptions = {}): Measurer {
  const measurer = sourceMeasurer(options);
  onTestFinished(() => measurer.close());
  return measurer;
}

/** A file of zeros that takes a while to hash, and no room on disk. */
function slowFile(megabytes: number): SpawnDescription {
  const folder = testFolder({ "s.js": "" });
  truncateSync(join(folder, "s.js"), megabytes * 1024 * 1024);
  return describe("node", ["s.js"], { cwd: folder, env });
}

suite("a measurer", () => {
  it("measures many launches at once, each with its own answer", async () => {
    const measurer = measurerFor();
    const folders = Array.from({ length: 20 }, (_, index) => testFolder({ "s.js": String(index) }));
    const digests = await Promise.all(
      folders.map((folder) => measureLaunch(describe("node", ["s.js"], { cwd: folder, env }), { measurer })),
    );
    expect(new Set(digests.map(({ digest }) => digest)).size).toBe(20);
    digests.forEach(({ target }, index) => {
      expect(target.path).toBe(join(folders[index] ?? "", "s.js"));
    });
  });

  it("leaves the event loop free while it hashes", async () => {
    const measurer = measurerFor();
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    await measureLaunch(slowFile(512), { measurer });
    delay.disable();
    // Half a gigabyte takes some hundred milliseconds; starting the thread is all that this thread does.
    expect(delay.percentile(95) / 1e6).toBeLessThan(60);
  });

  it("reads large files in pieces: memory does not grow with them", async () => {
    const measurer = measurerFor();
    await measureLaunch(slowFile(1), { measurer });
    const before = process.memoryUsage().rss;
    await measureLaunch(slowFile(1024), { measurer });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  it("remembers the digest of a large program while its identity is the same, and of none that is young", () => {
    const tools = {
      maxFileBytes: 1e10,
      maxTreeBytes: 1e10,
      maxEntries: 10,
      buffer: Buffer.alloc(1 << 20),
      startedNs: BigInt(Date.now()) * 1_000_000n,
    };
    const digestOf = (
      path: string,
      known: ReadonlyMap<string, string>,
    ): { digest: string; learned: Map<string, string> } => {
      const learned = new Map<string, string>();
      const digests = createFileDigests({ platform: "linux", tools, known, learned });
      return { digest: digests.of(tracePath(pathOfText(path), busy)), learned };
    };
    const { learned } = digestOf(nodePath, new Map());
    const known = new Map([...learned.keys()].map((identity) => [identity, "remembered"]));
    expect(digestOf(nodePath, known).digest).toBe("sha256:remembered");
    const young = join(testFolder(), "young");
    execFileSync("cp", [nodePath, young]);
    expect(digestOf(young, new Map()).learned.size).toBe(0);
  });

  it("stops at its time limit", async () => {
    const measurer = measurerFor({ limits: { timeoutMs: 30 } });
    expect(await refusal(measureLaunch(slowFile(4096 - 1), { measurer }))).toBe("MEASURE_TIMEOUT");
  });

  it("stops at its size limits", async () => {
    const measurer = measurerFor({ limits: { maxFileBytes: 256 * 1024 * 1024 } });
    expect(await refusal(measureLaunch(slowFile(257), { measurer }))).toBe("FILE_TOO_LARGE");
    const few = measurerFor({ limits: { maxEntries: 2 } });
    const folder = testFolder({ "package.json": '{"name":"x"}', "s.js": "" });
    expect(await refusal(measureLaunch(describe("node", ["s.js"], { cwd: folder, env }), { measurer: few }))).toBe(
      "TREE_TOO_LARGE",
    );
  });

  it("an abort ends the wait with its reason, and the next measurement works", async () => {
    const measurer = measurerFor({ maxThreads: 1 });
    const reason = new Error("enough");
    const abort = new AbortController();
    const slow = measureLaunch(slowFile(2048), { measurer, signal: abort.signal });
    const queued = measureLaunch(slowFile(1), { measurer, signal: abort.signal });
    const other = measureLaunch(slowFile(1), { measurer });
    setImmediate(() => abort.abort(reason));
    const ended = await Promise.allSettled([slow, queued]);
    expect(ended).toEqual([
      { status: "rejected", reason },
      { status: "rejected", reason },
    ]);
    expect((await other).files).toBe(1);
    await expect(measureLaunch(slowFile(1), { measurer, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it("close ends what is under way, may be called again, and shares one promise", async () => {
    const measurer = measurerFor({ maxThreads: 1 });
    const slow = refusal(measureLaunch(slowFile(2048), { measurer }));
    const queued = refusal(measureLaunch(slowFile(1), { measurer }));
    expect(measurer.close()).toBe(measurer.close());
    expect(await Promise.all([slow, queued])).toEqual(["MEASURER_CLOSED", "MEASURER_CLOSED"]);
    await measurer[Symbol.asyncDispose]();
    expect(await refusal(measureLaunch(slowFile(1), { measurer }))).toBe("MEASURER_CLOSED");
  });

  it("goes on after a thread died, and says what it died of", async () => {
    let started = 0;
    const startWorker = (): Worker => {
      started += 1;
      return new Worker("throw new Error('broken')", { eval: true });
    };
    const measurer = createMeasurer({ startWorker });
    const attempt = (): Promise<unknown> => measureLaunch(slowFile(1), { measurer });
    const died = { code: "MEASURE_FAILED", cause: expect.objectContaining({ message: "broken" }) };
    await expect(attempt()).rejects.toMatchObject(died);
    await expect(attempt()).rejects.toMatchObject(died);
    expect(started).toBe(2);
    await measurer.close();
  });

  it("without work it does not keep the process alive", () => {
    const entry = new URL("../dist/index.js", import.meta.url).href;
    const code = `
      import { measureLaunch, createMeasurer } from ${JSON.stringify(entry)};
      const measurer = createMeasurer({ idleMs: 3_600_000 });
      const { digest } = await measureLaunch({ command: "/bin/true", args: [], env: {} }, { measurer });
      console.log(digest);
    `;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", code], {
      encoding: "utf8",
      timeout: 20_000,
    });
    expect(output).toMatch(/^sha256:[0-9a-f]{64}\n$/);
  });
});
