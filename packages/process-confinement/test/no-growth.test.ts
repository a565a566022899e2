import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { createSandboxStarter, type FolderUsage, measureFolder } from "../src/index.js";
import { sandboxesOfThisFile, uniqueName } from "./sandboxes.js";

const sandboxes = sandboxesOfThisFile();
const itInside = partTest("bubblewrap", "python3");
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** What a full folder may look like: some content, a hole that is not filled, a folder. */
function fullFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-full-"));
  folders.push(folder);
  writeFileSync(join(folder, "content"), new Uint8Array(300_000).fill(7));
  writeFileSync(join(folder, "hole"), "");
  truncateSync(join(folder, "hole"), 2 ** 30);
  mkdirSync(join(folder, "inner"));
  return folder;
}

const usageOf = (folder: string): Promise<FolderUsage> => measureFolder(folder, { maxBytes: 2 ** 40 });

// Free is what takes no room by itself, and is a step towards it: a size that is a hole, another entry in a folder that has room.
const ways = [
  { way: "writing to a file", code: "os.write(os.open('content', os.O_WRONLY | os.O_APPEND), bytes(9000))", errno: 27 },
  { way: "writing into a hole", code: "os.pwrite(os.open('hole', os.O_RDWR), bytes(9000), 1 << 20)", errno: 27 },
  { way: "making a file longer", code: "os.truncate('content', 1 << 21)", errno: 27, isFree: true },
  { way: "making a file", code: "open('file', 'wb')", errno: 122 },
  { way: "making a file without a name", code: "os.open('.', os.O_TMPFILE | os.O_RDWR)", errno: 122, isFree: true },
  { way: "making a folder", code: "os.mkdir('folder')", errno: 122 },
  { way: "making a link", code: "os.symlink('x' * 200, 'link')", errno: 122 },
  { way: "making a second name", code: "os.link('content', 'inner/again')", errno: 122, isFree: true },
  { way: "making a pipe", code: "os.mkfifo('pipe')", errno: 122 },
  { way: "making a socket", code: "socket.socket(socket.AF_UNIX).bind('socket')", errno: 122 },
  { way: "another name", code: "os.rename('content', 'inner/' + 'x' * 255)", errno: 122, isFree: true },
  { way: "an attribute", code: "os.setxattr('content', 'user.x', bytes(3000))", errno: 122 },
  {
    // There is none (ENODATA); one that goes gives a file blocks of its own that it shared.
    way: "one attribute less",
    code: "try: os.removexattr('content', 'user.x')\nexcept OSError as error:\n  if error.errno != 61: raise",
    errno: 122,
    isFree: true,
  },
  {
    way: "filling a hole through memory",
    code: "mmap.mmap(os.open('hole', os.O_RDWR), 1 << 20)[:9] = b'x' * 9",
    errno: 122,
  },
  {
    way: "copying a part of a file",
    code: "os.copy_file_range(of('content'), os.open('hole', os.O_RDWR), 9000)",
    errno: 27,
  },
  { way: "writing at once", code: "os.pwritev(os.open('hole', os.O_RDWR), [bytes(9000)], 0, os.RWF_DSYNC)", errno: 27 },
  { way: "a pipe led into a file", code: "os.splice(full_pipe(), os.open('hole', os.O_RDWR), 9000)", errno: 27 },
  {
    way: "sending a file into another",
    code: "os.sendfile(os.open('hole', os.O_RDWR), of('content'), 0, 9000)",
    errno: 27,
  },
  {
    way: "cloning a file",
    code: "fcntl.ioctl(os.open('hole', os.O_RDWR), 0x40049409, of('content'))",
    errno: 122,
    isRare: true,
  },
  {
    way: "a flag of a file",
    code: "fcntl.ioctl(of('content'), 0x40086602, struct.pack('l', 0x80080))",
    errno: 122,
    isFree: true,
  },
  {
    way: "a flag of a file, by a call of its own",
    code: "if libc.syscall(469, -100, b'content', bytes(24), 24, 0): raise OSError(ctypes.get_errno(), '')",
    errno: 122,
    isRare: true,
  },
];

const program = `
import ctypes, fcntl, json, mmap, os, signal, socket, struct, sys
of = lambda name: os.open(name, os.O_RDONLY)
libc = ctypes.CDLL(None, use_errno=True)
os.chdir("/full")
def full_pipe():
    reader, writer = os.pipe()
    os.write(writer, bytes(9000))
    return reader
def attempt(code):
    try: exec(code)
    except OSError as error: return error.errno
    return 0
print(json.dumps([attempt(code) for code in json.loads(sys.argv[1])]))
`;
const attempts = JSON.stringify(ways.map(({ code }) => code));

describe("a sandbox in which nothing grows", () => {
  itInside("refuses every way in which a folder comes to hold more, to its children too", async () => {
    const folder = fullFolder();
    const before = await usageOf(folder);
    const policy = { readWrite: [{ source: folder, target: "/full" }], noGrowth: true };
    const child = `import subprocess, sys\nsys.exit(subprocess.run([sys.executable, "-I", "-c", *sys.argv[1:]]).returncode)`;
    for (const args of [
      ["-I", "-c", program, attempts],
      ["-I", "-c", child, program, attempts],
    ]) {
      const { stdout, stderr } = await sandboxes.run({ python: "", args, policy });
      expect(stderr).toBe("");
      const seen: readonly number[] = JSON.parse(stdout);
      expect(Object.fromEntries(ways.map(({ way }, at) => [way, seen[at]]))).toEqual(
        Object.fromEntries(ways.map(({ way, errno }) => [way, errno])),
      );
    }
    expect(await usageOf(folder)).toEqual(before);
  });

  describe.each(ways.filter(({ isRare }) => isRare !== true))("without which $way", ({ code, isFree }) => {
    itInside("does", async () => {
      const folder = fullFolder();
      const before = await usageOf(folder);
      const { stdout, stderr } = await sandboxes.run({
        python: "",
        args: ["-I", "-c", program, JSON.stringify([code])],
        policy: { readWrite: [{ source: folder, target: "/full" }] },
      });
      expect([stderr, stdout]).toEqual(["", "[0]\n"]);
      const { bytes } = await usageOf(folder);
      if (isFree !== true) expect(bytes).toBeGreaterThan(before.bytes);
    });
  });

  itInside("reads, cuts short and removes what is there", async () => {
    const folder = fullFolder();
    const python = `
import os, shutil, subprocess
os.chdir("/full")
print(len(open("content", "rb").read()), sorted(os.listdir()), flush=True)
os.truncate("content", 10)
os.remove("hole")
shutil.rmtree("inner")
subprocess.run(["/bin/sh", "-c", "cat content | tail -c 2; rm content"], check=True)
print(os.listdir())
`;
    const policy = { readWrite: [{ source: folder, target: "/full" }], noGrowth: true };
    const { stdout, stderr } = await sandboxes.run({ python, policy });
    expect([stderr, stdout]).toEqual(["", "300000 ['content', 'hole', 'inner']\n\x07\x07[]\n"]);
  });

  itInside("leaves no file of the kernel's either when a process crashes", async () => {
    const folder = fullFolder();
    const before = await usageOf(folder);
    const script = "cd /full; ulimit -c unlimited; sh -c 'kill -SEGV $$'; kill -SEGV $$";
    const policy = { readWrite: [{ source: folder, target: "/full" }], noGrowth: true };
    await sandboxes.run({ script, policy });
    expect(await usageOf(folder)).toEqual(before);
  });

  itInside("can use memory, threads, processes, pipes and terminals", async () => {
    const python = `
import os, pty, subprocess, threading
done = []
threads = [threading.Thread(target=done.append, args=(n,)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
held = bytearray(32 * 1024 * 1024)
print(len(done), subprocess.run(["/bin/echo", "hi"], capture_output=True, stdin=subprocess.DEVNULL).stdout)
print(os.isatty(pty.openpty()[1]), os.get_terminal_size(pty.openpty()[1]))
`;
    const { stdout, stderr } = await sandboxes.run({ python, policy: { noGrowth: true } });
    expect([stderr, stdout]).toEqual(["", "4 b'hi\\n'\nTrue os.terminal_size(columns=0, lines=0)\n"]);
  });

  itInside("tells that no file may have a byte, whatever bound of files was named", async () => {
    const sandbox = await sandboxes.open({
      script: "exit 0",
      policy: { noGrowth: true, limits: { fileBytes: 2 ** 20 } },
    });
    expect(sandbox.enforced).toContainEqual({ limit: "fileBytes", value: 0, by: "rlimit" });
  });

  itInside("is never started by a launcher that has the usual filter already", async () => {
    const folder = fullFolder();
    const starter = createSandboxStarter();
    const command = { file: "/bin/sh", env: { PATH: "/usr/bin:/bin" } };
    try {
      const usual = await starter.open({ ...command, name: uniqueName(), policy: {}, args: ["-c", "exit 0"] });
      await usual.close();
      const policy = { readWrite: [{ source: folder, target: "/full" }], noGrowth: true };
      const args = ["-c", "mkdir /full/folder; exit $?"];
      const strict = await starter.open({ ...command, name: uniqueName(), policy, args });
      expect(await strict.exited).toMatchObject({ code: 1 });
    } finally {
      await starter.close();
    }
  });

  it("has no way out, since a forwarder could not listen", async () => {
    const network = { mode: "allowlist", socket: "/dev/null" } as const;
    await expect(sandboxes.open({ policy: { noGrowth: true, network } })).rejects.toMatchObject({
      code: "POLICY_INVALID",
      field: "network.mode",
    });
  });
});

describe("the ways by which room is taken without a write", () => {
  itInside("are closed in every sandbox: a watch would see a disk that is full already", async () => {
    const folder = fullFolder();
    const before = await usageOf(folder);
    const python = `
import ctypes, fcntl, os, struct
libc = ctypes.CDLL(None, use_errno=True)
hole = os.open("/full/hole", os.O_RDWR)
for mode in (0, 1):
    print(libc.fallocate(hole, mode, ctypes.c_long(0), ctypes.c_long(1 << 22)), ctypes.get_errno())
for request in (0x40305828, 0x4030582a, 0x40305839):
    try: fcntl.ioctl(hole, request, struct.pack("hhqqi4I4x", 0, 0, 0, 1 << 22, 0, 0, 0, 0, 0))
    except OSError as error: print(error.errno)
os.posix_fallocate(os.open("/full/content", os.O_RDWR), 0, 400_000)
`;
    const policy = { readWrite: [{ source: folder, target: "/full" }] };
    const { stdout, stderr } = await sandboxes.run({ python, policy });
    expect([stderr, stdout]).toEqual(["", "-1 95\n-1 95\n1\n1\n1\n"]);
    // What libc then does is to write.
    expect((await usageOf(folder)).bytes - before.bytes).toBeLessThan(110_000);
    expect(readFileSync(join(folder, "content"))).toHaveLength(400_000);
  });
});
