/** What the agent may say. Everything else ends the environment. */
export type GuestFrame =
  | { readonly kind: "ready" }
  | { readonly kind: "started"; readonly id: number; readonly pid: number }
  | { readonly kind: "failed"; readonly id: number; readonly errno: number }
  | {
      readonly kind: "exit";
      readonly id: number;
      readonly code: number | undefined;
      readonly signal: number | undefined;
    };

/** Longest line of the agent. Its frames are numbers, below 100 bytes. */
export const maxGuestFrameBytes = 1024;

/** Reads one line of the agent; undefined when it is not a frame. */
export function readGuestFrame(line: string): GuestFrame | undefined {
  const members = tryParse(line);
  if (members === undefined) return undefined;
  if (members["ready"] === 1) return { kind: "ready" };
  return readStarted(members) ?? readFailed(members) ?? readExit(members);
}

type Members = Readonly<Record<string, unknown>>;

function tryParse(line: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined; // hostile or damaged: the caller ends the environment
  }
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readStarted({ started: id, pid }: Members): GuestFrame | undefined {
  return isCount(id) && isCount(pid) ? { kind: "started", id, pid } : undefined;
}

function readFailed({ failed: id, errno }: Members): GuestFrame | undefined {
  return isCount(id) && isCount(errno) ? { kind: "failed", id, errno } : undefined;
}

function readExit({ exit: id, code, signal }: Members): GuestFrame | undefined {
  if (!isCount(id)) return undefined;
  if (isCount(code) && signal === null) return { kind: "exit", id, code, signal: undefined };
  return code === null && isCount(signal) ? { kind: "exit", id, code: undefined, signal } : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 2 ** 31;
}
