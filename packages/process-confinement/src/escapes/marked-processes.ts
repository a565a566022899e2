import { listProcesses } from "../identity/process-identity.js";
import { readOr } from "../machine/read-or.js";

/** Processes of this machine whose command line holds the token. */
export function findMarked(token: string): readonly number[] {
  return listProcesses().filter((pid) => readOr(`/proc/${pid}/cmdline`, "").split("\0").includes(token));
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
