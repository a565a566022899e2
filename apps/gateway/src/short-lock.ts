import { readFileSync, readlinkSync } from "node:fs";
import { lstat, mkdir, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { GatewayError } from "./errors.js";

/** How long another process may hold the lock before we give up, in milliseconds. */
const patienceMs = 10_000;

/**
 * Runs `action` while no other process holds the lock of this folder. Each contender writes a file of its own name and then
 * looks for others: whoever sees a living one withdraws and tries again, so two never hold it, and a dead owner's file,
 * being of no other name, can be removed by anyone at any time. Meant for writes of a few milliseconds.
 * The folder that holds `folder` must exist.
 * @throws {GatewayError} `LOCKED` after ten seconds, naming the owner; at once when something else stands in its place.
 */
export async function withShortLock<T>(folder: string, action: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const own = await acquire(folder, signal);
  try {
    return await action();
  } finally {
    await rm(own, { force: true });
    // Another contender may have its file there already.
    await rmdir(folder).catch(() => {});
  }
}

async function acquire(folder: string, signal: AbortSignal | undefined): Promise<string> {
  const deadline = performance.now() + patienceMs;
  const name = [process.pid, startTimeOf(process.pid) ?? 0, pidSpace(), crypto.randomUUID().slice(0, 8)].join(".");
  const own = join(folder, name);
  for (;;) {
    signal?.throwIfAborted();
    const others = await announce(folder, name);
    const [holder] = others.filter((other) => isAlive(other));
    if (holder === undefined) return own;
    await rm(own, { force: true });
    if (performance.now() > deadline) {
      const [pid] = holder.split(".");
      throw new GatewayError(
        "LOCKED",
        `${folder} is held by process ${pid}: end it, or remove ${join(folder, holder)}`,
      );
    }
    await delay(5 + Math.random() * 25, undefined, { signal });
  }
}

/** What `acquire` calls its files. Whatever else lies in the folder is not ours to judge or to remove. */
const ownerName = /^\d+\.\d+\.\d+\.[0-9a-f]{8}$/u;

/** Puts our file into the folder and gives the names of the others; dead owners' files are removed on the way. */
async function announce(folder: string, name: string): Promise<string[]> {
  for (;;) {
    await mkdir(folder, { mode: 0o700 }).catch(unlessCode("EEXIST"));
    await refuseLink(folder);
    try {
      await writeFile(join(folder, name), "", { flag: "wx", mode: 0o600 });
      const others = (await readdir(folder)).filter((other) => other !== name && ownerName.test(other));
      for (const dead of others.filter((other) => !isAlive(other))) await rm(join(folder, dead), { force: true });
      return others;
    } catch (error) {
      // The last holder removed the empty folder between our two steps.
      unlessCode("ENOENT")(error);
    }
  }
}

/** A catalog may come with a repository of somebody else's, and a link in the lock's place with it. */
async function refuseLink(folder: string): Promise<void> {
  const found = await lstat(folder).catch(unlessCode("ENOENT"));
  if (found === undefined || found.isDirectory()) return;
  throw new GatewayError("LOCKED", `${folder} stands where a lock's folder goes, and is none: remove it`);
}

function unlessCode(code: string): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof Error && "code" in error && error.code === code)) throw error;
    return undefined;
  };
}

/**
 * A process is the recorded one when number and start time agree; where there is no /proc, the number alone must do.
 * Of a process in another pid namespace (a container on the same folder) nothing is known, so it counts as alive.
 */
function isAlive(name: string): boolean {
  const [pid = "", startTime, space] = name.split(".");
  const number = Number(pid);
  if (!Number.isInteger(number) || number <= 0) return false;
  if (space !== pidSpace()) return true;
  try {
    process.kill(number, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  const now = startTimeOf(number);
  return now === undefined || startTime === "0" || String(now) === startTime;
}

/** Field 22 of /proc/PID/stat, after the last `)`: a command's name may hold anything. A zombie (state Z) is dead. */
function startTimeOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? -1 : Number(fields[19]);
  } catch {
    return undefined; // no /proc, or the process is gone meanwhile
  }
}

function pidSpace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replace(/\D/gu, "");
  } catch {
    return "0"; // no /proc
  }
}
