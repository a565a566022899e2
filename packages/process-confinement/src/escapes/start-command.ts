import { spawn } from "node:child_process";
import type { EscapeCommand, EscapeLaunch, EscapeProcess } from "./escapes.js";

/**
 * Starts a command line in a group of its own, so that all of it can be ended. `inherited` becomes descriptor 3: a wrap that does
 * not close what it inherits passes it on.
 * @throws the system's error when it cannot be executed.
 */
export async function startLaunch(
  { file, args, env }: EscapeLaunch,
  command: EscapeCommand,
  inherited: number | undefined,
): Promise<EscapeProcess> {
  const child = spawn(file, args, {
    cwd: command.workspace,
    env: env ?? command.env,
    detached: true,
    stdio: ["ignore", "pipe", "ignore", ...(inherited === undefined ? [] : [inherited])],
  });
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once("exit", (code, signal) => resolve({ code, signal })),
  );
  await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  const kill = async (): Promise<void> => {
    endGroup(child.pid);
    await exited;
  };
  const { stdout } = child;
  if (stdout === null) throw new Error("no pipe to read");
  return { stdout, exited, kill };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody of the group is left.
  }
}

/** The command as it is: the control of what is harmless. */
export function unwrapped({ file, args, env }: EscapeCommand): EscapeLaunch {
  return { file, args, env };
}

/**
 * A user namespace with every capability in it and without a filter: what an attempt needs there, it has, and what it does stays
 * there. The control of what would harm this machine, or needs rights that this user has not.
 */
export function withCapabilities({ file, args, env, workspace }: EscapeCommand): EscapeLaunch {
  const namespaces = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--die-with-parent",
  ];
  const rights = ["--uid", "0", "--gid", "0", "--cap-add", "ALL"];
  const tree = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"];
  const own = ["--bind", workspace, workspace, "--chdir", workspace];
  return { file: "bwrap", args: [...namespaces, ...rights, ...tree, ...own, "--", file, ...args], env };
}
