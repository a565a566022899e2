import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withShortLock } from "../src/short-lock.js";

describe("the lock of a short write", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-lock-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("lets one in at a time, and leaves nothing behind", async () => {
    const lock = join(folder, "lock");
    let inside = 0;
    let most = 0;
    const one = () =>
      withShortLock(lock, async () => {
        inside += 1;
        most = Math.max(most, inside);
        await readdir(folder);
        inside -= 1;
      });
    await Promise.all(Array.from({ length: 12 }, one));
    expect(most).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it("takes over from an owner that is dead", async () => {
    const lock = join(folder, "lock");
    // A name as ours is, of a process that cannot be.
    const [own = ""] = await withShortLock(lock, () => readdir(lock));
    await mkdir(lock);
    await writeFile(join(lock, own.replace(/^\d+/u, "999999999")), "");
    expect(await withShortLock(lock, async () => (await readdir(lock)).length)).toBe(1);
  });

  it("never follows a link in its place, and touches nothing behind it", async () => {
    const victim = join(folder, "documents");
    await mkdir(victim);
    await writeFile(join(victim, "letter.txt"), "dear");
    await symlink(victim, join(folder, "lock"));
    await expect(withShortLock(join(folder, "lock"), async () => {})).rejects.toMatchObject({ code: "LOCKED" });
    expect(await readdir(victim)).toEqual(["letter.txt"]);
  });

  it("removes no file that is not an owner's", async () => {
    const lock = join(folder, "lock");
    await mkdir(lock);
    await writeFile(join(lock, "letter.txt"), "dear");
    await withShortLock(lock, async () => {});
    expect(await readdir(lock)).toEqual(["letter.txt"]);
  });
});
