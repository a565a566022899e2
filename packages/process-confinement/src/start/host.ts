import { accessSync, constants } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** What decides whether sandboxes can be started by this process; tests pass their own. */
export interface ConfinementHost {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly isMainThread: boolean;
  /** Absolute path of a program of the system, looked for in fixed folders, never in PATH. */
  readonly findTool: (name: string) => string | undefined;
}

const toolFolders: readonly string[] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

export function thisHost(): ConfinementHost {
  return {
    platform: process.platform,
    arch: process.arch,
    isMainThread,
    findTool: (name) => toolFolders.map((folder) => `${folder}/${name}`).find(isExecutable),
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
