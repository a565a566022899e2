import { closeSync, openSync, readdirSync, readSync } from "node:fs";

const closeOnExec = 0o2000000;

/**
 * Descriptors of this process, from `first` on, that a child would inherit. Node marks what it opens, and of what it inherited
 * itself only the first few: a descriptor 77 of the shell that started us goes through to every child. Five microseconds for
 * each that is open.
 */
export function listInherited(first = 3): readonly number[] {
  const buffer = Buffer.alloc(64);
  return readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((descriptor) => descriptor >= first && isInherited(descriptor, buffer));
}

/** `flags` is in the second line of the file (proc(5)): what does not look so is taken for inherited. */
function isInherited(descriptor: number, buffer: Buffer): boolean {
  const text = tryReadStart(`/proc/self/fdinfo/${descriptor}`, buffer);
  // Closed since it was listed: the one that the listing itself used, or a file that another thread reads.
  if (text === undefined) return false;
  const flags = /^flags:\s*([0-7]+)$/m.exec(text)?.[1];
  return flags === undefined || (Number.parseInt(flags, 8) & closeOnExec) === 0;
}

function tryReadStart(path: string, buffer: Buffer): string | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0));
  } catch {
    return undefined; // another thread closed it after it was opened here: ENOENT, proc(5)
  } finally {
    closeSync(file);
  }
}
