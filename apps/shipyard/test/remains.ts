/** What a server may leave on the machine: rows, processes, control groups. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readSqliteLeases, type SqliteLeases } from "@berth/environment-leases/sqlite";

/** The rows of a state folder, as they are on the disk now. */
export async function rowsOf(state: string): Promise<SqliteLeases["leases"]> {
  return (await readSqliteLeases(join(state, "leases.db")))?.leases ?? [];
}

/** Processes of this machine but our own, each with what these files of its folder say. */
function processes(...files: readonly string[]): readonly { readonly pid: string; readonly says: string }[] {
  const read = (path: string): string => {
    try {
      return readFileSync(path, "latin1");
    } catch {
      return ""; // it has ended, or is not ours to see
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => ({ pid, says: files.map((file) => read(`/proc/${pid}/${file}`)).join("") }));
}

/** Those of any kind that have this text in their environment or arguments. */
export function processesNaming(text: string): readonly string[] {
  return processes("environ", "cmdline").flatMap(({ pid, says }) => (says.includes(text) ? [pid] : []));
}

/** Those of these workers of which a process lives: a sandbox has files of its worker's folder mounted. */
export function living(workers: readonly string[]): readonly string[] {
  const mounts = processes("mountinfo");
  return workers.filter((worker) => mounts.some(({ says }) => says.includes(`/${worker}/`)));
}

/** Groups of others come and go meanwhile. */
function foldersIn(folder: string): readonly { readonly name: string }[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  } catch (error) {
    if (error instanceof Error && "code" in error && ["ENOENT", "ENODEV"].includes(String(error.code))) return [];
    throw error;
  }
}

/** Control groups that are named after one of these workers, wherever they are. */
export function groupsOf(workers: readonly string[]): readonly string[] {
  const below = (folder: string, depth: number): readonly string[] => {
    const names = foldersIn(folder);
    return names.flatMap(({ name }) => [name, ...(depth > 0 ? below(join(folder, name), depth - 1) : [])]);
  };
  const names = new Set(below("/sys/fs/cgroup", 3));
  return workers.filter((worker) => [...names].some((name) => name.includes(worker)));
}
