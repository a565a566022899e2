import { readdirSync, readFileSync } from "node:fs";

/** Processes of this machine whose command line names a folder: those of its plugin, wherever they went. */
export function processesOf(folder: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(folder));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // it ended meanwhile
  }
}
