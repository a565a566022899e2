import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { type DiskExcess, type WatchOptions, watchFolders } from "../../src/disk-watch/watch-folders.js";
import { scratchFolder } from "./trees.js";

const mib = 2 ** 20;

/** The alarm that a watch gives. */
function alarm(options: Omit<WatchOptions, "onExcess">): Promise<DiskExcess> {
  return new Promise((resolve) => {
    const watch = watchFolders({ intervalMs: 5, ...options, onExcess: resolve });
    onTestFinished(() => watch.close());
  });
}

/** A process that has made a file of 8 MiB, which has a name no more, and holds it open. */
async function holdDeleted(folder: string): Promise<number> {
  const program =
    "import os\nf = open('gone', 'wb')\nos.unlink('gone')\nf.write(bytes(8 << 20))\nf.flush()\nprint(1, flush=True)\nos.read(0, 1)";
  const child = spawn("sh", ["-c", 'python3 -c "$1"; true', "sh", program], {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, "exit");
  });
  await once(child.stdout, "data");
  return child.pid ?? 0;
}

describe("watchFolders", () => {
  it("gives the alarm once what is written is over the bound, and not before", async () => {
    const folder = scratchFolder();
    const excess = alarm({ folders: [{ path: folder, maxBytes: mib }] });
    let isOver = false;
    void excess.then(() => expect(isOver).toBe(true));
    writeFileSync(join(folder, "half"), new Uint8Array(mib / 2));
    const other = alarm({ folders: [{ path: folder, maxBytes: mib / 4 }] });
    expect(await other).toEqual({ path: folder, reason: "it holds more than 262144 bytes" });
    isOver = true;
    writeFileSync(join(folder, "more"), new Uint8Array(mib));
    expect(await excess).toEqual({ path: folder, reason: "it holds more than 1048576 bytes" });
  });

  it("watches each folder with a bound of its own", async () => {
    const [small, large] = [scratchFolder(), scratchFolder()];
    writeFileSync(join(small, "x"), new Uint8Array(mib));
    const folders = [
      { path: large, maxBytes: 10 * mib },
      { path: small, maxBytes: mib },
    ];
    expect((await alarm({ folders })).path).toBe(small);
  });

  partTest("python3")("counts files without a name that a process of the sandbox holds open", async () => {
    const folder = scratchFolder();
    const init = await holdDeleted(folder);
    expect(await alarm({ folders: [{ path: folder, maxBytes: mib }], init })).toMatchObject({ path: folder });
  });

  it("gives the alarm when a folder cannot be looked at for a while", async () => {
    const excess = await alarm({ folders: [{ path: join(scratchFolder(), "none"), maxBytes: mib }] });
    expect(excess.reason).toMatch(/cannot be/);
  });

  it("gives no alarm after it was closed, and may be closed again", async () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, "x"), new Uint8Array(2 * mib));
    const watch = watchFolders({
      folders: [{ path: folder, maxBytes: mib }],
      onExcess: () => expect.unreachable(),
    });
    await watch.close();
    await watch.close();
  });
});
