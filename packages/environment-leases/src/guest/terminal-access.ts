import type { DisposableEnvironment } from "../environment.js";
import { LeaseError } from "../errors.js";
import type { GuestSurroundings } from "./guest-environment.js";
import { terminalChannel } from "./terminal.js";

const initialSize = { columns: 80, rows: 24 } as const;

/** The shell: staged when it is asked for, refused before. It opens no network. */
export function terminalAccess({
  agent,
  places,
  profile,
  ending,
}: GuestSurroundings): Pick<DisposableEnvironment, "installShell" | "openTerminal"> {
  let installed = false;
  return {
    async installShell({ signal } = {}) {
      signal?.throwIfAborted();
      if (!profile.shell) throw notGranted(`profile ${profile.name} does not grant a shell`);
      if (ending.end === undefined) installed = true;
    },
    async openTerminal({ signal } = {}) {
      if (!installed) throw notGranted("no shell was installed in this environment");
      const env = { TERM: "xterm-256color" };
      const frame = { op: "terminal" as const, argv: ["/bin/sh", "-i"], env, cwd: places.workspace, ...initialSize };
      const { streams, kill, resize } = await agent.start(frame, { streams: 1, signal });
      const [stream] = streams;
      if (stream === undefined) throw new Error("a terminal was started without its stream");
      return terminalChannel({ stream, kill, resize });
    },
  };
}

function notGranted(message: string): LeaseError {
  return new LeaseError("SHELL_NOT_GRANTED", message, { cure: "set shell: true in the profile" });
}
