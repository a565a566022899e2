import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { deniedCalls } from "../../src/seccomp/calls.js";
import { sandboxesOfThisFile } from "../sandboxes.js";

const sandboxes = sandboxesOfThisFile();
const itInside = partTest("bubblewrap", "python3");
const program = readFileSync(fileURLToPath(new URL("../programs/forbidden-calls.py", import.meta.url)), "utf8");

const architecture = process.arch === "arm64" ? "arm64" : "x64";
const none = [0, 0, 0, 0, 0, 0];
/** What these need so that, without a filter, something else would come back than the filter's answer. */
const argumentsOf: Readonly<Record<string, readonly number[]>> = {
  close_range: [0xffff0000, 0xffff0000, 2, 0, 0, 0],
  clone: [0x10000000 | 17, 0, 0, 0, 0, 0],
  ioctl: [0, 0x5412, 0, 0, 0, 0],
  chmod: [0, 0o4755, 0, 0, 0, 0],
  creat: [0, 0o4755, 0, 0, 0, 0],
  fchmod: [-1, 0o4755, 0, 0, 0, 0],
  fchmodat: [-100, 0, 0o4755, 0, 0, 0],
  fchmodat2: [-100, 0, 0o4755, 0, 0, 0],
  fcntl: [-1, 1024, 0, 0, 0, 0],
  mknod: [0, 0o4755, 0, 0, 0, 0],
  mknodat: [-100, 0, 0o4755, 0, 0, 0],
  open: [0, 0x40, 0o4755, 0, 0, 0],
  openat: [-100, 0, 0x40, 0o4755, 0, 0],
  personality: [0x40000, 0, 0, 0, 0, 0],
  socket: [40, 1, 0, 0, 0, 0],
};
const calls = deniedCalls.flatMap((call) => {
  const number = call[architecture];
  return number === undefined ? [] : [[call.name, number, argumentsOf[call.name] ?? none] as const];
});

describe("system calls inside", () => {
  itInside("that are forbidden fail, each of them, when a program makes them", async () => {
    const { stdout, stderr } = await sandboxes.run({
      python: program,
      args: ["-I", "-c", program, JSON.stringify(calls)],
    });
    expect(stderr).toBe("");
    const expected = deniedCalls.filter((call) => call[architecture] !== undefined);
    expect(JSON.parse(stdout)).toEqual(
      Object.fromEntries(expected.map(({ name, denial }) => [name, [-1, denial.errno]])),
    );
  });

  itInside("are refused by the filter: without it, in the same namespaces, many of them answer otherwise", () => {
    // No capability and a user namespace of its own, so that none of them can do harm.
    const harmless = calls.filter(([name]) => !["vhangup", "reboot", "clone"].includes(name));
    const bare = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--proc", "/proc"];
    const command = ["/usr/bin/python3", "-I", "-c", program, JSON.stringify(harmless)];
    const run = spawnSync("bwrap", [...bare, "--", ...command], { encoding: "utf8" });
    expect(run.stderr).toBe("");
    const answers: Record<string, readonly [number, number]> = JSON.parse(run.stdout);
    const refusedAnyway = Object.entries(answers).filter(([name, [result, errno]]) => {
      return result === -1 && errno === deniedCalls.find((call) => call.name === name)?.denial.errno;
    });
    const names = refusedAnyway.map(([name]) => name);
    for (const name of ["ptrace", "keyctl", "add_key", "unshare", "personality", "process_vm_readv"])
      expect(names).not.toContain(name);
    expect(names.length).toBeLessThan(calls.length / 2);
  });

  itInside(
    "of the x32 ABI and clone3 are absent; threads (one table of files), processes, semaphores work",
    async () => {
      const python = `
import ctypes, multiprocessing, platform, subprocess, threading
libc = ctypes.CDLL(None, use_errno=True)
if platform.machine() == "x86_64":
    assert (libc.syscall(0x40000000 | 39), ctypes.get_errno()) == (-1, 38)
clone = 56 if platform.machine() == "x86_64" else 220
VM_FS_SIGHAND_THREAD = 0x10b00
assert (libc.syscall(clone, VM_FS_SIGHAND_THREAD, 0, 0, 0, 0), ctypes.get_errno()) == (-1, 1)
done = []
threads = [threading.Thread(target=done.append, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert sorted(done) == list(range(8))
assert subprocess.run(["/bin/echo", "hi"], capture_output=True).stdout == b"hi\\n"
with multiprocessing.get_context("fork").Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
print("good")
`;
      const outcome = await sandboxes.run({ python });
      expect(outcome).toMatchObject({ stdout: "good\n", stderr: "", exit: { reason: "exited", code: 0 } });
    },
  );

  partTest("bubblewrap")("leave Node its workers, its pool of threads and its child processes", async () => {
    const script = `
const { Worker } = require("node:worker_threads");
const answer = (n) => new Promise((resolve, reject) => {
  const worker = new Worker(\`require("node:worker_threads").parentPort.postMessage(\${n})\`, { eval: true });
  worker.once("message", resolve).once("error", reject);
});
(async () => {
  const answers = await Promise.all([1, 2, 3, 4].map(answer));
  const looks = await Promise.all(Array.from({ length: 8 }, () => require("node:fs/promises").stat("/usr")));
  console.log(answers.join(), looks.length, require("node:child_process").execFileSync("/bin/echo", ["child"], { encoding: "utf8" }));
})();
`;
    const outcome = await sandboxes.run({ file: process.execPath, args: ["-e", script] });
    expect(outcome).toMatchObject({ stdout: "1,2,3,4 8 child\n\n", stderr: "", exit: { reason: "exited", code: 0 } });
  });

  itInside("leave no program in a bound folder that others could start as this user", async () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-modes-"));
    const python = `
import os
os.chdir("/shared")
def attempt(change):
    try: change()
    except PermissionError as error: print(error.errno)
for mode in (0o4755, 0o2755):
    open("a", "w").close()
    attempt(lambda: os.chmod("a", mode))
    attempt(lambda: os.open("b", os.O_CREAT | os.O_WRONLY, mode))
    attempt(lambda: os.open(".", os.O_TMPFILE | os.O_WRONLY, mode))
    attempt(lambda: os.mknod("c", mode))
os.chmod("a", 0o1755)
`;
    try {
      const policy = { readWrite: [{ source: folder, target: "/shared" }] };
      const { stdout, stderr } = await sandboxes.run({ python, policy });
      expect([stderr, stdout]).toEqual(["", "1\n".repeat(8)]);
      expect(readdirSync(folder)).toEqual(["a"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  itInside("cannot make the host wait for a file", async () => {
    const python = `
import fcntl, os
for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
    try: fcntl.fcntl(os.open("/etc/passwd", os.O_RDONLY), 1024, kind)
    except PermissionError as error: print(error.errno)
`;
    expect(await sandboxes.run({ python })).toMatchObject({ stdout: "1\n1\n", stderr: "" });
  });
});
