import { LeaseError } from "../errors.js";

/** SQLite's primary result codes (sqlite.org/rescode.html) that are told apart here. */
const resultCodes = { busy: 5, locked: 6, ioError: 10, corrupt: 11, full: 13, notADatabase: 26 } as const;

/** The primary result code of an error of node:sqlite; undefined for other errors. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode & 0xff; // the upper bits say more of the same
}

/** Somebody else's connection is in the way at this moment. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === resultCodes.busy || code === resultCodes.locked;
}

/** After a failed write or sync nobody knows what the disk holds, and later syncs may claim success. */
export function isIoFault(error: unknown): boolean {
  return resultCode(error) === resultCodes.ioError;
}

/** What a store that cannot be trusted rejects with. */
export function damaged(path: string, how: string, cause?: unknown): LeaseError {
  return new LeaseError("STORE_DAMAGED", `the lease store ${path} is damaged: ${how}`, {
    ...(cause === undefined ? {} : { cause }),
    cure: "bring back a backup, or move the file away and end the sandboxes that are left before a new one is made",
  });
}

/** One error of ours for anything that SQLite or the system throws. Errors of ours pass. */
export function storeFault(path: string, doing: string, error: unknown): unknown {
  if (error instanceof LeaseError) return error;
  const code = resultCode(error);
  if (code === resultCodes.corrupt || code === resultCodes.notADatabase) return damaged(path, textOf(error), error);
  if (code === undefined && !isSystemError(error)) return error; // a bug of ours keeps its own face
  return new LeaseError("STORE_FAILED", `the lease store ${path} failed while ${doing}: ${textOf(error)}`, {
    cause: error,
    cure: code === undefined ? systemCure(error) : cures[code],
  });
}

const cures: Readonly<Record<number, string>> = {
  [resultCodes.busy]: "end the program that keeps the file locked",
  [resultCodes.ioError]: "look at the disk, then open the store again",
  [resultCodes.full]: "free space on the disk, prune old rows, or raise maxBytes",
};

/** The system's own word for a full disk, from a file that SQLite does not write. */
function systemCure(error: unknown): string | undefined {
  const isFull = error instanceof Error && "code" in error && ["ENOSPC", "EDQUOT"].includes(String(error.code));
  return isFull ? "free space on the disk" : undefined;
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && ("syscall" in error || ("code" in error && error.code === "ERR_SQLITE_ERROR"));
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 300) : "unknown";
}
