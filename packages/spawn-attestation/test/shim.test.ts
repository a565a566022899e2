import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished, describe as suite } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { askAsChild, attestedSpawn, describeLaunch, measureLaunch, type ShimQuestion } from "../src/index.js";
import { fill, testFolder } from "./support/folder.js";
import { describe, pythonPath, refusal, runLaunch } from "./support/launch.js";
import { sourceMeasurer } from "./support/source-measurer.js";

const measurer = sourceMeasurer();
afterAll(() => measurer.close());

function question(text: string): ShimQuestion & { readonly folder: string } {
  const folder = testFolder({ shim: { program: `#!/bin/sh\n${text}\n` } });
  const file = join(folder, "shim");
  return { file, argv0: "shim", args: ["-p"], env: { PATH: "/usr/bin:/bin" }, cwd: folder, folder };
}

/** Gone, or dead and not yet collected by whoever adopted it. */
function isRunning(pid: string): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !/\) Z /.test(readFileSync(stat, "utf8"));
}

suite("asking a shim", () => {
  it("gives back what it prints, and hides what it says on its error output", async () => {
    expect(await askAsChild(question('echo "$1"; echo noise >&2'), {})).toBe("-p\n");
  });

  it.each([
    { name: "that fails", text: "echo x; exit 3" },
    { name: "that is killed", text: "kill -9 $$" },
    { name: "that says more than 64 KiB", text: "head -c 100000 /dev/zero" },
  ])("gives back nothing of one $name", async ({ text }) => {
    expect(await askAsChild(question(text), {})).toBe("");
  });

  it("gives back nothing when there is no such program, or no such folder", async () => {
    const asked = question("echo x");
    expect(await askAsChild({ ...asked, file: join(asked.folder, "none") }, {})).toBe("");
    expect(await askAsChild({ ...asked, cwd: join(asked.folder, "none") }, {})).toBe("");
  });

  it("ends the whole group after its time", async () => {
    const asked = question("sleep 30 & echo $! >inner; wait");
    expect(await askAsChild(asked, { timeoutMs: 300 })).toBe("");
    const inner = readFileSync(join(asked.folder, "inner"), "utf8").trim();
    // SIGKILL was sent; that it has come is the system's to do.
    await expect.poll(() => isRunning(inner)).toBe(false);
  });

  partTest("util-linux")("does not wait for a descendant that left the group with the pipe", async () => {
    const asked = question(
      "setsid sh -c 'echo $$ >away; exec sleep 30' & while [ ! -s away ]; do sleep 0.01; done; exit 0",
    );
    onTestFinished(() => void process.kill(Number(readFileSync(join(asked.folder, "away"), "utf8")), "SIGKILL"));
    expect(await askAsChild(asked, { timeoutMs: 500 })).toBe("");
  });

  it("rejects with the reason of an abort, and ends the child", async () => {
    const reason = new Error("enough");
    const abort = new AbortController();
    const asked = askAsChild(question("sleep 30"), { signal: abort.signal });
    abort.abort(reason);
    await expect(asked).rejects.toBe(reason);
    expect(() => askAsChild(question("echo x"), { signal: abort.signal })).toThrow(reason);
  });
});

suite("a launch through a shim", () => {
  const it = partTest("python3");

  function shimmed(): { folder: string; env: Record<string, string> } {
    const folder = testFolder({ "s.py": 'print("ran")' });
    fill(folder, {
      real: { link: pythonPath() },
      "shims/python3": { program: `#!/bin/sh\nexec ${folder}/real "$@"\n` },
    });
    return { folder, env: { PATH: `${folder}/shims:/usr/bin:/bin` } };
  }

  it("is pinned, run and checked again like any other, and the evidence names the shim", async () => {
    const { folder, env } = shimmed();
    const plain = describe("python3", ["s.py"], { cwd: folder, env });
    const options = { measurer, scratch: join(folder, "scratch") };
    const { pin } = await describeLaunch(plain, options);
    const attested = await attestedSpawn({
      ...options,
      description: { ...plain, ...pin },
      policy: { allowUnmeasuredSpawn: false },
      record: () => Promise.resolve(),
      spawn: (launch) => Promise.resolve(runLaunch(launch)),
      end: () => Promise.resolve(),
    });
    await attested.recheck();
    expect(attested.child).toBe("ran\n");
    expect(attested.decision).toMatchObject({ evidence: "spawn-measured", interpreterKind: "shim" });
    expect(attested.statement?.predicate.interpreter?.kind).toBe("shim");
  });

  it("is refused when the caller's own way of asking fails", async () => {
    const { folder, env } = shimmed();
    const ask = (): Promise<string> => Promise.reject(new Error("not today"));
    const promise = measureLaunch(describe("python3", ["s.py"], { cwd: folder, env }), {
      measurer,
      ask,
      scratch: join(folder, "scratch"),
    });
    expect(await refusal(promise)).toBe("SHIM_UNRESOLVED");
  });
});
