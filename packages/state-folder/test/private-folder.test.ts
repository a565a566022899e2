import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defaultStatePath, findPrivateFolder, isStateError, openPrivateFolder } from "../src/index.js";

const layout = { format: 1, folders: ["audit"], sockets: ["control.sock"], trusted: "pins.json" };
const openStateFolder = (path: string): Promise<string> => openPrivateFolder(path, layout);
const findStateFolder = (path: string): Promise<string> => findPrivateFolder(path, layout);

async function pipeInstead(path: string): Promise<void> {
  await rm(path);
  execFileSync("mkfifo", [path]);
}

async function folderInstead(path: string): Promise<void> {
  await rm(path);
  await mkdir(path);
}

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
      const path = await openStateFolder(join(folder, "deep", "state"));
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

  it("is not believed when others could write into it, and is left as it was", async () => {
    const path = await openStateFolder(join(folder, "state"));
    for (const mode of [0o720, 0o702]) {
      await chmod(path, mode);
      await expect(openStateFolder(path)).rejects.toMatchObject({
        code: "STATE_UNUSABLE",
        message: expect.stringContaining("pins.json first, then close it with chmod 700"),
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
    const path = await openStateFolder(join(folder, "state"));
    expect(await findStateFolder(path)).toBe(path);
  });

  it("cannot be made below a file, and says why", async () => {
    await writeFile(join(folder, "file"), "");
    const refused: unknown = await openStateFolder(join(folder, "file", "state")).catch((error: unknown) => error);
    expect(isStateError(refused) && refused.code).toBe("STATE_UNUSABLE");
    expect(refused).toMatchObject({ cause: { code: "ENOTDIR" } });
  });

  it.each([
    { place: "audit", what: "a file", make: (path: string) => writeFile(path, "") },
    { place: "audit", what: "a link to a file", make: (path: string) => symlink("format.json", path) },
    { place: "control.sock", what: "a folder", make: (path: string) => mkdir(path) },
    { place: "control.sock", what: "a file", make: (path: string) => writeFile(path, "") },
    { place: "format.json", what: "a named pipe, without waiting for it", make: pipeInstead },
    { place: "format.json", what: "a folder", make: folderInstead },
    { place: "format.json", what: "longer than any format", make: (path: string) => writeFile(path, " ".repeat(101)) },
  ])("is refused before anything is started when $place is $what", async ({ place, make }) => {
    const path = await openStateFolder(join(folder, "state"));
    await make(join(path, place));
    await expect(openStateFolder(path)).rejects.toMatchObject({ code: "STATE_UNUSABLE" });
  });

  it("may hold the folders and sockets that its layout names", async () => {
    const path = await openStateFolder(join(folder, "state"));
    await mkdir(join(path, "audit"));
    const server = createServer().listen(join(path, "control.sock"));
    try {
      await once(server, "listening");
      expect(await openStateFolder(path)).toBe(path);
    } finally {
      server.close();
    }
  });

  it("is refused to another user, whatever its mode", async ({ skip }) => {
    skip(process.getuid?.() !== 0, "needs root, to give a folder away");
    const path = await openStateFolder(join(folder, "state"));
    await chown(path, 65_534, 65_534);
    await expect(openStateFolder(path)).rejects.toMatchObject({ message: expect.stringContaining("another user") });
  });

  it.each([
    [{ XDG_STATE_HOME: "/x/state", HOME: "/home/me" }, "/x/state/berth"],
    [{ HOME: "/home/me" }, "/home/me/.local/state/berth"],
    [{ XDG_STATE_HOME: "relative", HOME: "/home/me" }, "/home/me/.local/state/berth"],
  ])("lies by default where XDG says: %j", (environment, expected) => {
    expect(defaultStatePath("berth", environment)).toBe(expected);
  });
});
