import { readdirSync, readFileSync } from "node:fs";

const closeOnExec = 0o2000000;

/**
 * Descriptors of this process that a child would inherit beside its standard ones. Node marks what it opens, and of what it
 * inherited itself only the first few: a descriptor 77 of the shell that started us goes through to every child.
 */
export function listInherited(): readonly number[] {
  return readdirSync("/proc/self/fdinfo").map(Number).filter(isInherited);
}

function isInherited(descriptor: number): boolean {
  if (descriptor <= 2) return false;
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false; // closed since it was listed: the one that the listing itself used
  }
}
