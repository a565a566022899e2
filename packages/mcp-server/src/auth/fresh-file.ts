import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { tell } from "../tell.js";
import { AuthError } from "./errors.js";
import { untilAborted } from "./until-aborted.js";

/** A file that is read again when it has changed. */
export interface FreshFile<T> {
  /** What the file held when it could be read last. */
  current(signal: AbortSignal): Promise<T>;
}

export interface FreshFileOptions<T> {
  readonly path: string;
  readonly maxBytes: number;
  /** How long what was read is taken for the newest, in milliseconds. */
  readonly recheckMs: number;
  readonly now: () => number;
  /** Throws an AuthError for what is not valid. */
  readonly parse: (text: string) => T;
  /** Told when a changed file cannot be used; once for each reason. What was read before goes on to count. */
  readonly onReloadError?: ((error: unknown) => void) | undefined;
}

/**
 * Reads a file now, and again when it has changed, asked for at most once in `recheckMs`; without a watcher or timer.
 * @throws {AuthError} `FILE_UNREADABLE`, `FILE_MODE`, or what `parse` throws, when it cannot be used at the start.
 */
export async function openFreshFile<T>(options: FreshFileOptions<T>): Promise<FreshFile<T>> {
  const { path, recheckMs, now, onReloadError } = options;
  let checkedAt = now();
  let { value, stamp } = await load(options);
  // A change within the same tick of the file system's clock leaves its times as they are: so what is new is read once more.
  let isSettled = false;
  let lastFault: string | undefined;
  let checking: Promise<void> | undefined;

  const check = async (): Promise<void> => {
    try {
      if (isSettled && stampOf(await stat(path, { bigint: true })) === stamp) return;
      const loaded = await load(options);
      isSettled = loaded.stamp === stamp;
      ({ value, stamp } = loaded);
      lastFault = undefined;
    } catch (error) {
      isSettled = false;
      if (String(error) === lastFault) return;
      lastFault = String(error);
      tell(onReloadError, error);
    }
  };
  return {
    async current(signal) {
      const elapsed = now() - checkedAt;
      // A clock that was set back is no reason to never look again.
      if (checking === undefined && (elapsed >= recheckMs || elapsed < 0)) {
        checkedAt = now();
        checking = check().finally(() => {
          checking = undefined;
        });
      }
      if (checking !== undefined) await untilAborted(checking, signal);
      return value;
    },
  };
}

interface Loaded<T> {
  readonly value: T;
  readonly stamp: string;
}

async function load<T>({ path, maxBytes, parse }: FreshFileOptions<T>): Promise<Loaded<T>> {
  const bytes = await readChecked(path, maxBytes);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.content);
  } catch (cause) {
    throw unreadable(path, "is not UTF-8", cause);
  }
  return { value: parse(text), stamp: bytes.stamp };
}

async function readChecked(path: string, maxBytes: number): Promise<{ content: Uint8Array; stamp: string }> {
  let handle: FileHandle;
  try {
    // Non-blocking: opening a named pipe would wait for its other end.
    handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    throw unreadable(path, "cannot be opened", cause);
  }
  try {
    const before = await handle.stat({ bigint: true });
    if (!before.isFile()) throw unreadable(path, "is no regular file");
    if (process.platform !== "win32" && (before.mode & 0o022n) !== 0n) {
      throw new AuthError("FILE_MODE", `${path} can be written by its group or by everybody: chmod go-w`);
    }
    // One byte more than there should be shows what has grown.
    const content = await readUpTo(handle, Number(before.size) + 1, maxBytes + 1);
    if (content.length > maxBytes) throw unreadable(path, `is larger than ${maxBytes} bytes`);
    const after = await handle.stat({ bigint: true });
    // Not by `ctimeNs`, which also changes when another file takes this one's name.
    if (after.size !== before.size || after.mtimeNs !== before.mtimeNs) {
      throw unreadable(path, "was changed while it was read");
    }
    return { content, stamp: stampOf(before) };
  } finally {
    await handle.close();
  }
}

/** Reads until there are as many bytes or the file ends: one read may give less than there is. */
async function readUpTo(handle: FileHandle, expected: number, most: number): Promise<Uint8Array> {
  const content = Buffer.alloc(Math.min(expected, most));
  let total = 0;
  while (total < content.length) {
    const { bytesRead } = await handle.read(content, total, content.length - total, total);
    if (bytesRead === 0) break;
    total += bytesRead;
  }
  return content.subarray(0, total);
}

interface Times {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mode: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

function stampOf({ dev, ino, size, mode, mtimeNs, ctimeNs }: Times): string {
  return [dev, ino, size, mode, mtimeNs, ctimeNs].join(" ");
}

function unreadable(path: string, why: string, cause?: unknown): AuthError {
  return new AuthError("FILE_UNREADABLE", `${path} ${why}`, cause === undefined ? undefined : { cause });
}
