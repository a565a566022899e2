import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { partTest } from "../../../../fixtures/parts.js";
import { type MeasureBounds, measureFolder } from "../../src/index.js";
import { plant, scratchFolder } from "./trees.js";

const mib = 2 ** 20;
const roomy: MeasureBounds = { maxBytes: 2 ** 40, maxEntries: 2_000_000, maxDepth: 128 };

describe("measureFolder", () => {
  it("counts what du counts, and 512 bytes for each entry", async () => {
    const folder = scratchFolder();
    mkdirSync(join(folder, "a/b"), { recursive: true });
    writeFileSync(join(folder, "a/large"), new Uint8Array(300_000));
    writeFileSync(join(folder, "a/b/small"), "x");
    writeFileSync(join(folder, "empty"), "");
    symlinkSync("/usr", join(folder, "link"));
    const du = Number(spawnSync("du", ["-s", "-B1", folder], { encoding: "utf8" }).stdout.split("\t")[0]);
    const ofRoot = lstatSync(folder).blocks * 512;
    const usage = await measureFolder(folder, roomy);
    expect(usage).toEqual({ entries: 6, bytes: du - ofRoot + 6 * 512, verdict: "within", reason: undefined });
  });

  partTest("python3")("counts holes of a file nowhere, and a file with many names once", async () => {
    const folder = scratchFolder();
    plant(
      folder,
      "os.truncate(os.open('hole', os.O_CREAT | os.O_WRONLY), 1 << 40)\nopen('one', 'wb').write(bytes(1 << 20))",
    );
    plant(folder, "for i in range(50): os.link('one', f'name-{i}')");
    const { bytes, verdict } = await measureFolder(folder, roomy);
    expect(verdict).toBe("within");
    expect(bytes).toBeGreaterThan(mib);
    expect(bytes).toBeLessThan(2 * mib);
  });

  partTest("python3")("sees files whose names are no text", async () => {
    const folder = scratchFolder();
    plant(folder, "os.mkdir(b'\\xff\\xfe')\nopen(b'\\xff\\xfe/\\x80', 'wb').write(bytes(1 << 20))");
    expect((await measureFolder(folder, roomy)).bytes).toBeGreaterThan(mib);
  });

  it.each([
    { name: "bytes", bounds: { maxBytes: mib }, reason: /more than 1048576 bytes/ },
    { name: "entries", bounds: { maxEntries: 10 }, reason: /more than 10 entries/ },
    { name: "depth", bounds: { maxDepth: 3 }, reason: /nested deeper than 3/ },
  ])("is over at too much of $name", async ({ bounds, reason }) => {
    const folder = scratchFolder();
    mkdirSync(join(folder, "a/b/c"), { recursive: true });
    for (let index = 0; index < 20; index++) writeFileSync(join(folder, `${index}`), new Uint8Array(65_536));
    expect(await measureFolder(folder, { ...roomy, ...bounds })).toMatchObject({
      verdict: "over",
      reason: expect.stringMatching(reason),
    });
  });

  partTest("python3")(
    "is over at folders so deep that no path can name them, and leaves no descriptor open",
    async () => {
      const folder = scratchFolder();
      plant(
        folder,
        "for i in range(3000):\n  os.mkdir('d' * 200)\n  os.chdir('d' * 200)\nopen('x', 'wb').write(bytes(1 << 20))",
      );
      const before = readdirSync("/proc/self/fd").length;
      expect(await measureFolder(folder, roomy)).toMatchObject({ verdict: "over" });
      expect(readdirSync("/proc/self/fd").length).toBe(before);
    },
  );

  partTest("python3")(
    "goes through a great many entries without holding up the event loop",
    async () => {
      const folder = scratchFolder();
      const count = scaledCount("entries of one folder", 400_000);
      plant(folder, `for i in range(${count}): os.close(os.open(str(i), os.O_CREAT))`);
      let turns = 0;
      const timer = setInterval(() => turns++, 1);
      const usage = await measureFolder(folder, roomy);
      clearInterval(timer);
      expect(usage).toMatchObject({ entries: count, bytes: count * 512, verdict: "within" });
      expect(turns).toBeGreaterThan(count / 10_000);
    },
    300_000,
  );

  partTest("python3")("never follows a link that takes the place of a folder between two steps", async () => {
    const folder = scratchFolder();
    plant(folder, "for i in range(40): os.mkdir(f'd{i}')\nos.symlink('/usr', 'link')");
    const swap =
      "import os\nprint(1, flush=True)\nwhile True:\n  for i in range(40):\n    os.rename(f'd{i}', 'aside'); os.symlink('/usr', f'd{i}'); os.unlink(f'd{i}'); os.rename('aside', f'd{i}')";
    const swapper = spawn("python3", ["-c", swap], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    await once(swapper.stdout, "data");
    for (let round = 0; round < 200; round++) {
      const { entries, verdict } = await measureFolder(folder, roomy);
      expect(verdict).toBe("within");
      expect(entries).toBeLessThan(100);
    }
    swapper.kill("SIGKILL");
    await once(swapper, "close");
  });

  it("counts a file once that is moved from where it was listed to where it is listed later", async () => {
    const folder = scratchFolder();
    const names = Array.from({ length: 400 }, (_, index) => `${index}`);
    mkdirSync(join(folder, "later"));
    for (const name of names) writeFileSync(join(folder, name), "x");
    const calm = await measureFolder(folder, roomy);
    const measured = measureFolder(folder, roomy); // stops for a breath after the first 256 entries
    for (const name of names) renameSync(join(folder, name), join(folder, "later", name));
    const { bytes, entries } = await measured;
    expect(entries).toBeGreaterThan(400);
    expect(bytes).toBeLessThan(1.2 * calm.bytes); // the folder has grown
  });

  it("knows nothing of a folder that is not there or is a link", async () => {
    const folder = scratchFolder();
    symlinkSync("/usr", join(folder, "link"));
    for (const name of ["none", "link"]) {
      expect(await measureFolder(join(folder, name), roomy)).toMatchObject({ verdict: "unseen" });
    }
  });

  it("ends with the reason of an abort, and leaves no descriptor open", async () => {
    const folder = scratchFolder();
    for (let index = 0; index < 600; index++) writeFileSync(join(folder, `${index}`), "");
    const before = readdirSync("/proc/self/fd").length;
    const ending = new AbortController();
    const measured = measureFolder(folder, roomy, { signal: ending.signal });
    ending.abort("enough");
    await expect(measured).rejects.toBe("enough");
    expect(readdirSync("/proc/self/fd").length).toBe(before);
  });
});
