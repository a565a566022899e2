import { readdirSync, readFileSync } from "node:fs";

/** Processes of this machine whose command line holds the token. */
export function findMarked(token: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => commandLine(pid).split("\0").includes(token));
}

/** Ends them, but for one; the token is looked for again right before, since numbers are used anew. */
export function endMarked(token: string, except: number | undefined): void {
  for (const pid of findMarked(token)) {
    if (pid === except) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended meanwhile.
    }
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return ""; // ended meanwhile, or not ours to see
  }
}
