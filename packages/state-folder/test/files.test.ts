import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readText, replaceFile } from "../src/index.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-files-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("a file that is replaced", () => {
  it("is new with mode 0600, keeps its own later, and leaves no draft", async () => {
    const path = join(folder, "pins.json");
    await replaceFile(path, "one");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await chmod(path, 0o640);
    await replaceFile(path, "two");
    expect([await readFile(path, "utf8"), (await stat(path)).mode & 0o777]).toEqual(["two", 0o640]);
    expect(await readdir(folder)).toEqual(["pins.json"]);
  });

  it("is the target of a link, which stays one", async () => {
    await writeFile(join(folder, "real"), "one");
    await symlink("real", join(folder, "link"));
    await replaceFile(join(folder, "link"), "two");
    expect([await readlink(join(folder, "link")), await readFile(join(folder, "real"), "utf8")]).toEqual([
      "real",
      "two",
    ]);
  });

  it("is old or new for a reader, never something between", async () => {
    const path = join(folder, "file");
    const texts = ["a".repeat(100_000), "b".repeat(200_000)];
    await replaceFile(path, texts[0] ?? "");
    const writing = (async () => {
      for (let round = 0; round < 40; round += 1) await replaceFile(path, texts[round % 2] ?? "");
    })();
    for (let round = 0; round < 200; round += 1) expect(texts).toContain(await readFile(path, "utf8"));
    await writing;
  });

  it("is as it was when it cannot be replaced, and no draft is left", async () => {
    const path = join(folder, "taken");
    execFileSync("mkdir", [path]);
    await expect(replaceFile(path, "text")).rejects.toMatchObject({ code: expect.stringMatching(/^E/u) });
    expect(await readdir(folder)).toEqual(["taken"]);
  });
});

describe("a text that is read", () => {
  it("is whole up to the limit, and refused one byte over it", async () => {
    const path = join(folder, "text");
    await writeFile(path, "é".repeat(50_000));
    expect(await readText(path, 100_000)).toBe("é".repeat(50_000));
    await expect(readText(path, 99_999)).rejects.toMatchObject({
      name: "StateError",
      code: "TEXT_TOO_LARGE",
      message: `${path} has more than 99999 bytes`,
    });
  });

  it.each([
    { name: "a pipe that nobody writes to", make: (path: string) => void execFileSync("mkfifo", [path]), is: "a pipe" },
    { name: "a folder", make: (path: string) => void execFileSync("mkdir", [path]), is: "a folder" },
    { name: "a device", make: (path: string) => symlink("/dev/zero", path), is: "a device" },
  ])("is not waited for where there is $name", async ({ make, is }) => {
    const path = join(folder, "other");
    await make(path);
    await expect(readText(path, 1_000)).rejects.toMatchObject({
      code: "TEXT_NOT_A_FILE",
      message: expect.stringMatching(new RegExp(`^${path} is .*${is}.* has to be a regular file$`, "u")),
    });
  });

  it("is not waited for where there is a socket", async () => {
    const path = join(folder, "socket");
    const server = createServer().listen(path);
    await once(server, "listening");
    await expect(readText(path, 1_000)).rejects.toMatchObject({ code: "TEXT_NOT_A_FILE" });
    server.close();
  });

  it("rejects with the system's own error where there is none", async () => {
    await expect(readText(join(folder, "absent"), 10)).rejects.toMatchObject({ code: "ENOENT" });
  });
});
