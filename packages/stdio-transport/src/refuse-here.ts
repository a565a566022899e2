import { StdioTransportError } from "./errors.js";
import type { HostSystem } from "./host-system.js";

/**
 * Refuses to start a child where it could not be held.
 * @throws {StdioTransportError} `SPAWN_FROM_WORKER`, `PLATFORM_UNSUPPORTED`.
 */
export function refuseHere(host: HostSystem, file: string): void {
  if (!host.isMainThread) {
    // A parent-death signal belongs to the thread that forked: the child would die with the worker.
    const message = "children are started from the main thread only: they would end with the worker thread";
    throw new StdioTransportError("SPAWN_FROM_WORKER", message);
  }
  if (host.platform !== "win32") return;
  const shim = /\.(?:cmd|bat)$/i.test(file);
  const advice = shim
    ? `${file} is a script for cmd.exe, which would read the arguments as commands: name the program that it starts, such as node.exe with the path of the server's script`
    : "use WSL: on Windows there is no process group by which a child could be ended surely";
  throw new StdioTransportError("PLATFORM_UNSUPPORTED", advice);
}
