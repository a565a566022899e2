import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defaultStatePath, findStateFolder, openStateFolder } from "../src/state-folder.js";

describe("the state folder", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-state-"));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

  it("is made with mode 0700 and a format version, whatever the umask", async () => {
    const before = process.umask(0);
    try {
      const { path } = await openStateFolder(join(folder, "deep", "state"));
      expect(await modeOf(path)).toBe(0o700);
      expect(await readFile(join(path, "format.json"), "utf8")).toBe('{"format":1}\n');
    } finally {
      process.umask(before);
    }
  });

  it("is opened by many at once", async () => {
    const path = join(folder, "state");
    await Promise.all(Array.from({ length: 20 }, () => openStateFolder(path)));
    expect(await readdir(path)).toEqual(["format.json"]);
  });

  it("is closed to others when it was made open", async () => {
    const path = join(folder, "state");
    await mkdir(path, { mode: 0o755 });
    await openStateFolder(path);
    expect(await modeOf(path)).toBe(0o700);
    await chmod(path, 0o750);
    await openStateFolder(path);
    expect(await modeOf(path)).toBe(0o700);
  });

  it("is never a folder in which others keep something", async () => {
    const path = join(folder, "home");
    await mkdir(path, { mode: 0o755 });
    await writeFile(join(path, "letter.txt"), "");
    await expect(openStateFolder(path)).rejects.toMatchObject({
      code: "STATE_UNUSABLE",
      message: expect.stringContaining("not a state folder and not empty"),
    });
    expect(await modeOf(path)).toBe(0o755);
  });

  it("is refused when a newer program made it, or when its version cannot be read", async () => {
    await writeFile(join(folder, "format.json"), '{"format":2}\n');
    await expect(openStateFolder(folder)).rejects.toMatchObject({ code: "STATE_NEWER" });
    await expect(findStateFolder(folder)).rejects.toMatchObject({ code: "STATE_NEWER" });
    await writeFile(join(folder, "format.json"), "{}");
    await expect(openStateFolder(folder)).rejects.toMatchObject({ code: "STATE_UNUSABLE" });
  });

  it("is not believed when others could write into it: its pins may be theirs", async () => {
    const { path } = await openStateFolder(join(folder, "state"));
    for (const mode of [0o720, 0o702]) {
      await chmod(path, mode);
      await expect(openStateFolder(path)).rejects.toMatchObject({
        code: "STATE_UNUSABLE",
        message: expect.stringContaining("chmod 700"),
      });
      expect(await modeOf(path)).toBe(mode);
    }
  });

  it("is opened by many at once also where it was made open and empty", async () => {
    const path = join(folder, "state");
    await mkdir(path);
    await chmod(path, 0o777);
    await Promise.all(Array.from({ length: 20 }, () => openStateFolder(path)));
    expect(await modeOf(path)).toBe(0o700);
  });

  it("must exist for commands that only read", async () => {
    await expect(findStateFolder(join(folder, "absent"))).rejects.toMatchObject({ code: "STATE_UNUSABLE" });
  });

  it.each([
    [{ XDG_STATE_HOME: "/x/state", HOME: "/home/me" }, "/x/state/berth"],
    [{ HOME: "/home/me" }, "/home/me/.local/state/berth"],
    [{ XDG_STATE_HOME: "relative", HOME: "/home/me" }, "/home/me/.local/state/berth"],
  ])("lies by default where XDG says: %j", (environment, expected) => {
    expect(defaultStatePath(environment)).toBe(expected);
  });
});
