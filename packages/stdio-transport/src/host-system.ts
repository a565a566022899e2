import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { isMainThread } from "node:worker_threads";
import type { Scheduler } from "@berth/jsonrpc-framing";
import type { SpawnFunction } from "./child-options.js";

/** What we use of the machine and of the process that we run in; tests pass their own. */
export interface HostSystem {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly pid: number;
  /** Undefined on Windows. */
  readonly uid: number | undefined;
  readonly isMainThread: boolean;
  readonly spawn: SpawnFunction;
  readonly scheduler: Scheduler;
  /** The path of a program of the system, looked for in fixed folders, never in PATH. */
  readonly findTool: (name: string) => string | undefined;
}

const toolFolders: readonly string[] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

export function thisHost(): HostSystem {
  return {
    platform: process.platform,
    arch: process.arch,
    pid: process.pid,
    uid: process.getuid?.(),
    isMainThread,
    spawn: (file, args, options) => spawn(file, args, { ...options, env: { ...options.env } }),
    scheduler: realTime,
    findTool: (name) => toolFolders.map((folder) => `${folder}/${name}`).find(isExecutable),
  };
}

const realTime: Scheduler = {
  now: () => performance.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(timer), hold: (held) => void (held ? timer.ref() : timer.unref()) };
  },
};

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
