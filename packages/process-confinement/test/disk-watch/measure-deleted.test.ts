import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { measureDeleted } from "../../src/disk-watch/measure-deleted.js";
import { scratchFolder } from "./trees.js";

const mib = 2 ** 20;
const holder = fileURLToPath(new URL("../programs/hold-mapped.py", import.meta.url));
/** Only root may look at a file by its mapping. */
const seenMib = process.getuid?.() === 0 ? 8 : 3;

/** A process that holds a file of 8 MiB by 3 MiB that are mapped of it, and nothing else. */
function holdMapped(folder: string, ...more: string[]): Promise<number> {
  return hold([holder, folder, "8", "3", ...more]);
}

/** A Python that says `True` when it holds something, and holds it until its input ends. */
async function hold(args: readonly string[]): Promise<number> {
  const child = spawn("python3", args, { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, "exit");
  });
  expect(String(await once(child.stdout, "data"))).toMatch(/^True/);
  return child.pid ?? 0;
}

async function deletedOn(folder: string, pid: number): Promise<number | undefined> {
  return (await measureDeleted(pid))?.get(statSync(folder).dev);
}

describe("measureDeleted", () => {
  partTest("python3")("counts a file without a name that is only mapped", async () => {
    const folder = scratchFolder();
    expect(await deletedOn(folder, await holdMapped(folder))).toBe(seenMib * mib);
  });

  partTest("python3")("counts it where only another thread than the first is left", async () => {
    const folder = scratchFolder();
    const pid = await holdMapped(folder, "thread");
    expect(await deletedOn(folder, pid)).toBe(seenMib * mib);
  });

  partTest("python3")("counts nothing that lies on another device", async () => {
    const pid = await holdMapped(scratchFolder());
    expect(await deletedOn("/dev/shm", pid)).toBe(undefined);
  });

  partTest("python3")("gives up where a process has so many mappings that nobody can read them", async () => {
    const folder = scratchFolder();
    const program = `
import ctypes, os, sys
path = "/".join([sys.argv[1], *["d" * 250] * 5])
os.makedirs(path)
file = os.open(path + "/file", os.O_CREAT | os.O_RDWR)
os.write(file, bytes(4096))
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
print(all(libc.mmap(None, 4096, 1, 1, file, 0) != 2**64 - 1 for _ in range(60_000)), flush=True)
os.read(0, 1)
`;
    const pid = await hold(["-c", program, folder]);
    expect(await measureDeleted(pid)).toBe(undefined);
  });
});
