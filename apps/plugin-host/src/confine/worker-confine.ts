import { fileURLToPath } from "node:url";
import type { Confine } from "@berth/venv-host";
import { isLaunchable, launchText } from "./launch.js";

/** Runs a worker in a sandbox: the command that is started is a program of ours, which opens the sandbox and becomes its pipe. */
export function workerConfine(): Confine {
  // Beside the built entry.
  const launcher = fileURLToPath(new URL("confined.js", import.meta.url));
  return async (argv, policy) => {
    if (!isLaunchable(policy)) throw new Error("a worker that is confined has no network: take `network: host` away");
    return {
      argv: [process.execPath, launcher, launchText(argv, policy)],
      confinement: "bubblewrap",
      release: async () => {},
    };
  };
}
