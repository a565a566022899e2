import { constants } from "node:os";
import type { Duplex } from "node:stream";
import type { ExitStatus } from "./child-handle.js";
import { createGate } from "./gate.js";

/** What a supervisor says first. */
export interface SupervisorReady {
  /** Its own number, the command's, and the pid namespace that both numbers belong to. */
  readonly supervisor: number;
  readonly namespace: string;
  readonly command: number;
}

/** Whether the command was executed, else why not: an errno. */
export type ExecOutcome = { readonly executed: true } | { readonly executed: false; readonly errno: number };

/** Our end of the channel to a supervisor. Each promise is undefined when the channel ended before. */
export interface ControlChannel {
  readonly ready: Promise<SupervisorReady | undefined>;
  readonly executed: Promise<ExecOutcome | undefined>;
  readonly exited: Promise<ExitStatus | undefined>;
  readonly ended: Promise<void>;
  /** Nothing happens when the channel has ended. */
  tell(word: "go" | "TERM" | "KILL"): void;
  write(record: Uint8Array): void;
  /** Closes our end, which tells the supervisor to end everything. */
  destroy(): void;
}

export function openControlChannel(socket: Duplex): ControlChannel {
  const ready = createGate<SupervisorReady | undefined>();
  const executed = createGate<ExecOutcome | undefined>();
  const exited = createGate<ExitStatus | undefined>();
  const ended = createGate<void>();
  let text = "";
  const onLine = (line: string): void => {
    const [word, first = "", second = "", third = ""] = line.split(" ");
    if (word === "ready") ready.open({ supervisor: Number(first), namespace: second, command: Number(third) });
    else if (word === "started") executed.open({ executed: true });
    else if (word === "failed") executed.open({ executed: false, errno: Number(first) });
    else if (word === "exited") exited.open(toExitStatus(Number(first), Number(second)));
  };
  const onEnd = (): void => {
    ready.open(undefined);
    executed.open(undefined);
    exited.open(undefined);
    ended.open();
    socket.destroy();
  };
  socket.on("data", (chunk: Buffer) => {
    const lines = (text + chunk.toString("latin1")).split("\n");
    text = lines.pop() ?? "";
    lines.forEach(onLine);
  });
  socket.on("error", () => {
    // The supervisor is gone; "close" follows.
  });
  socket.on("end", onEnd);
  socket.on("close", onEnd);
  return {
    ready: ready.passed,
    executed: executed.passed,
    exited: exited.passed,
    ended: ended.passed,
    tell: (word) => void (socket.writable && socket.write(`${word}\n`)),
    write: (record) => void (socket.writable && socket.write(record)),
    destroy: () => void socket.destroy(),
  };
}

/** From the two numbers of a wait status. */
function toExitStatus(code: number, signal: number): ExitStatus {
  if (signal === 0) return { code, signal: null };
  const name = Object.keys(constants.signals).find((key) => isSignalName(key) && constants.signals[key] === signal);
  // Real-time signals have no name in Node: as a shell does.
  return name !== undefined && isSignalName(name) ? { code: null, signal: name } : { code: 128 + signal, signal: null };
}

function isSignalName(name: string): name is NodeJS.Signals {
  return name in constants.signals;
}
