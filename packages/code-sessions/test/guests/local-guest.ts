import { spawn } from "node:child_process";
import { Duplex } from "node:stream";
import type { GuestExit, GuestProcess } from "@berth/environment-leases";

/** A plain process with the streams that the contract promises: descriptors 0 and 1 are one socket. */
export function openLocalGuest(
  argv: readonly string[],
  options: { cwd: string; env?: Readonly<Record<string, string>> },
): GuestProcess {
  const child = spawn("/bin/sh", ["-c", 'exec "$@" <&3 >&3 3<&-', "sh", ...argv], {
    cwd: options.cwd,
    env: { ...options.env },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    detached: true,
  });
  const stream = child.stdio[3];
  if (!(stream instanceof Duplex) || child.stderr === null) throw new Error("no streams");
  const exited = new Promise<GuestExit>((resolve) => {
    child.on("exit", (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
    child.on("error", () => resolve({ code: 127, signal: undefined }));
  });
  const kill = (name: NodeJS.Signals, group: boolean): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(group ? -child.pid : child.pid, name);
    } catch {
      // It is gone.
    }
  };
  const close = async (): Promise<void> => {
    kill("SIGKILL", true);
    await exited;
  };
  return {
    stream,
    stderr: child.stderr,
    exited,
    signal: (name, { group = false } = {}) => kill(name, group),
    close,
    [Symbol.asyncDispose]: close,
  };
}
