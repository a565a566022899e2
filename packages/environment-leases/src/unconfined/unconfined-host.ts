import { type ChildProcessByStdio, spawn } from "node:child_process";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { GuestHost, HostExit } from "../guest/guest-host.js";
import { bootId, startTimeOf } from "../process-identity.js";
import { markVariable } from "../workers/find-processes.js";
import type { GuestProgram } from "../workers/guest-program.js";
import { endAtLatest } from "../workers/kill-until-gone.js";
import type { WorkerFolder } from "../workers/worker-folder.js";
import { killMarked } from "./kill-marked.js";

type Agent = ChildProcessByStdio<Writable, Readable, Readable>;

/** How long an agent may take to end its processes before it is killed itself. */
const graceMs = 2000;

/** Starts an agent as a plain child with a group of its own. It ends, with everything below it, when its stdin does. */
export async function startUnconfined(
  folder: WorkerFolder,
  program: GuestProgram,
  env: Readonly<Record<string, string>>,
): Promise<GuestHost> {
  const child: Agent = spawn(program.interpreter, ["-I", "-S", "-B", join(program.folder, "main.pyc")], {
    cwd: "/",
    detached: true,
    env: { ...env, [markVariable]: folder.name },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {}); // it has ended, which `exited` tells
  const exited = followExit(child, folder.name);
  if (child.pid !== undefined) {
    await folder.writeIdentity({ bootId: bootId(), pid: child.pid, startTime: startTimeOf(child.pid) });
  }
  let isClosed = false;
  const kill = async (): Promise<void> => {
    isClosed = true;
    const endAt = endAtLatest();
    child.stdin.destroy();
    const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
    await exited;
    clearTimeout(timer);
    await killMarked(folder.name, endAt);
  };
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    enforced: [],
    exited: exited.then((exit) => (isClosed ? { ...exit, reason: "closed", detail: "closed" } : exit)),
    usage: () => ({ memoryBytes: undefined, processes: undefined }),
    kill,
  };
}

function followExit(child: Agent, mark: string): Promise<HostExit> {
  return new Promise<HostExit>((resolve) => {
    child.once("error", (error) => resolve({ reason: "exit", detail: error.message, code: undefined }));
    child.once("exit", (code, signal) => {
      // When somebody killed the agent, what it had started has lost its keeper.
      void killMarked(mark).then(
        () => resolve(describeExit(code, signal)),
        () => resolve(describeExit(code, signal)),
      );
    });
  });
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): HostExit {
  if (signal !== null) return { reason: "signal", detail: signal, code: undefined };
  return { reason: "exit", detail: `exit status ${code}`, code: code ?? undefined };
}
