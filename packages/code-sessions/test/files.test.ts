import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { openLocalSession } from "./guests/local-session.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("files of a session", () => {
  it("are written, listed, read and removed, with the folders that they need", async () => {
    const { session, run } = await openLocalSession();
    const entry = await session.files.write("a/b/c.txt", bytes("hello"));
    expect(entry).toMatchObject({ path: "a/b/c.txt", kind: "file", bytes: 5 });
    expect(Math.abs(entry.modifiedAt - Date.now())).toBeLessThan(60_000);
    expect(await session.files.read("a//./b/c.txt")).toEqual(Buffer.from("hello"));
    expect((await run("open('a/b/c.txt').read()")).result).toBe("'hello'");
    expect((await session.files.list()).map(({ path, kind }) => [path, kind])).toEqual([["a", "folder"]]);
    expect(await session.files.list({ path: "a/b" })).toEqual([entry]);
    await session.files.remove("a/b/c.txt");
    await session.files.remove("a/b");
    expect(await session.files.list({ path: "a" })).toEqual([]);
  });

  it("have any bytes and any size up to the limit", async () => {
    const { session } = await openLocalSession();
    const sizes = fc.oneof(
      fc.integer({ min: 0, max: 1_000 }),
      fc.constantFrom(196_607, 196_608, 196_609, 393_216, 1_000_000),
    );
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(255), async (size, seed) => {
        const content = Uint8Array.from({ length: size }, (_, i) => (i * 31 + seed) & 255);
        await session.files.write("x.bin", content);
        expect(Buffer.compare(await session.files.read("x.bin"), content)).toBe(0);
      }),
      { numRuns: 20 },
    );
  });

  it("are reached while code runs", async () => {
    const { session, begin } = await openLocalSession();
    const { outcome } = await begin("while True: n = 1");
    await session.files.write("x", bytes("y"));
    expect(await session.files.read("x")).toEqual(Buffer.from("y"));
    session.interrupt();
    expect((await outcome).status).toBe("interrupted");
  });

  it("replace what was there at once: a reader sees the old or the new", async () => {
    const { session, begin } = await openLocalSession();
    await session.files.write("f", bytes("0".repeat(400_000)));
    const seen =
      "seen = set()\nimport os\nwhile not os.path.exists('end'):\n    t = open('f').read()\n    assert len(t) == 400_000 and len(set(t)) == 1, t[:9]";
    const { outcome } = await begin(seen);
    for (const digit of ["1", "2", "3"]) await session.files.write("f", bytes(digit.repeat(400_000)));
    await session.files.write("end", bytes(""));
    expect(await outcome).toMatchObject({ status: "ok" });
    expect((await session.files.list()).map(({ path }) => path)).toEqual(["end", "f"]);
  });

  it.each(["../x", "a/../../x", "/etc/passwd", "x\0y", "a".repeat(256), "b/".repeat(3_000), ".."])(
    "have no path like %j",
    async (path) => {
      const { session } = await openLocalSession();
      for (const operation of [
        session.files.read(path),
        session.files.write(path, bytes("")),
        session.files.remove(path),
        session.files.list({ path }),
      ]) {
        await expect(operation).rejects.toMatchObject({ name: "SessionError", code: "FILE_PATH_INVALID" });
      }
    },
  );

  it("are never reached through a link, wherever it stands in the path", async () => {
    const { session, lease } = await openLocalSession();
    const outside = await mkdtemp(join(tmpdir(), "berth-outside-"));
    onTestFinished(() => rm(outside, { recursive: true }));
    await writeFile(join(outside, "secret"), "canary");
    await symlink(outside, join(lease.workspace, "folder"));
    await symlink(join(outside, "secret"), join(lease.workspace, "file"));
    await mkdir(join(lease.workspace, "real"));
    await symlink("..", join(lease.workspace, "real", "up"));
    for (const path of ["folder/secret", "file", "real/up/real", "folder"]) {
      await expect(session.files.read(path)).rejects.toMatchObject({ name: "SessionError" });
    }
    for (const path of ["folder", "real/up"])
      await expect(session.files.list({ path })).rejects.toMatchObject({ code: "FILE_PATH_INVALID" });
    await expect(session.files.write("folder/new", bytes("x"))).rejects.toMatchObject({ code: "FILE_PATH_INVALID" });
    await expect(session.files.remove("folder/secret")).rejects.toMatchObject({ code: "FILE_PATH_INVALID" });
    // A link itself is replaced and removed; what it points to stays as it was.
    await session.files.write("file", bytes("mine"));
    await session.files.remove("folder");
    expect(await readFile(join(outside, "secret"), "utf8")).toBe("canary");
    expect((await session.files.list()).map(({ path, kind }) => `${path} ${kind}`)).toEqual([
      "file file",
      "real folder",
    ]);
    // The control: the secret was there to be read.
    expect(await readFile(join(outside, "secret"), "utf8")).toBe("canary");
  });

  it("that are none are refused, and nothing waits for a pipe", async () => {
    const { session, run } = await openLocalSession();
    await run(
      "import os, socket\nos.mkfifo('fifo')\nos.mkdir('dir')\nopen('dir/x', 'w').close()\ns = socket.socket(socket.AF_UNIX)\ns.bind('sock')",
    );
    for (const path of ["fifo", "dir", "sock", ""])
      await expect(session.files.read(path)).rejects.toMatchObject({ code: "FILE_REFUSED" });
    await expect(session.files.write("dir", bytes("x"))).rejects.toMatchObject({ code: "FILE_REFUSED" });
    await expect(session.files.remove("dir")).rejects.toMatchObject({ code: "FILE_REFUSED" });
    await expect(session.files.remove("")).rejects.toMatchObject({ code: "FILE_REFUSED" });
    await expect(session.files.read("absent")).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    await expect(session.files.remove("absent/x")).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    expect((await session.files.list()).map(({ path, kind }) => `${path} ${kind}`)).toEqual([
      "dir folder",
      "fifo other",
      "sock other",
    ]);
  });

  it("over maxFileBytes are refused both ways, and leave nothing", async () => {
    const { session, run } = await openLocalSession({ limits: { maxFileBytes: 1_024 } });
    await run("open('big', 'w').write('x' * 1025)");
    await expect(session.files.read("big")).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
    await expect(session.files.write("new", new Uint8Array(1_025))).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
    expect((await session.files.list()).map(({ path }) => path)).toEqual(["big"]);
  });

  it("in their thousands are listed in pages, and over 10000 refused", async () => {
    const { session, run } = await openLocalSession();
    await run("import os\nos.mkdir('many')\nfor i in range(1_234): open(f'many/{i:05}', 'w').close()");
    const paths = (await session.files.list({ path: "many" })).map(({ path }) => path);
    expect(paths).toEqual([...Array(1_234).keys()].map((i) => `many/${String(i).padStart(5, "0")}`));
    await run("for i in range(10_001): open(f'many/{i:05}', 'w').close()");
    await expect(session.files.list({ path: "many" })).rejects.toMatchObject({ code: "FILE_REFUSED" });
  });

  it("are let go of when the caller gives up", async () => {
    const { session } = await openLocalSession();
    await session.files.write("x", new Uint8Array(1_000_000));
    const reason = new Error("enough");
    for (let i = 0; i < 80; i += 1) {
      const abort = new AbortController();
      const reading = session.files.read("x", { signal: abort.signal });
      abort.abort(reason);
      await expect(reading).rejects.toBe(reason);
    }
    expect((await session.files.read("x")).length).toBe(1_000_000);
    await expect(session.files.list({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it("are listed when one of them says that it has more bytes than can be counted", async () => {
    const { session, run } = await openLocalSession();
    await run("import os\nclass Huge:\n  st_mode, st_size, st_mtime_ns = 0o100644, 2**62, 0\nopen('big', 'w').close()");
    // No file system of a test machine surely takes such a file; the worker reads the same module.
    await run(
      "import sys\nf = sys.modules.get('berth_worker.files') or __import__('berth_worker.files').files\nf.os = type('O', (), {**vars(os), 'stat': staticmethod(lambda *a, **k: Huge)})",
    );
    expect(await session.files.list()).toMatchObject([{ path: "big", bytes: Number.MAX_SAFE_INTEGER }]);
    expect((await run("1")).status).toBe("ok");
  });
});
