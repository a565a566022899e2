import type { GuestProcess } from "../environment.js";
import type { Started } from "./guest-agent.js";

/** A started process as its user holds it. */
export function guestProcess(started: Started): GuestProcess {
  const [stream, stderr] = started.streams;
  if (stream === undefined || stderr === undefined) throw new Error("a process was started without its two streams");
  let closing: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await started.kill();
    for (const each of started.streams) each.destroy();
  };
  const close = (): Promise<void> => (closing ??= end());
  return {
    stream,
    stderr,
    exited: started.exited,
    signal: (name, { group = false } = {}) => started.signal(name, group),
    close,
    [Symbol.asyncDispose]: close,
  };
}
