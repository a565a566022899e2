import { VenvHostError } from "../errors.js";

/** `ENOENT`, `ENOSPC`, …; undefined for what is not a fault of the system. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" && /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
}

/** Whether this user may not do it. */
export function isRefusal(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes(systemCode(error) ?? "");
}

const cures: Readonly<Record<string, string>> = {
  ENOSPC: "make room on the disk of the store, or collect environments",
  EDQUOT: "make room on the disk of the store, or collect environments",
  EROFS: "give a store on a file system that can be written, or build the environment before it is mounted",
  EACCES: "give this user the store's folder, or another store",
  EPERM: "give this user the store's folder, or another store",
};

/** Runs what touches the store's own files; a fault of the system becomes `STORE_UNUSABLE`. */
export async function inStore<T>(path: string, step: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const why = error instanceof Error ? error.message : code;
    const message = `the store ${path} cannot be used (${step}): ${why}`;
    throw new VenvHostError("STORE_UNUSABLE", message, { cause: error, step, cure: cures[code] });
  }
}

/** Whether a file is not there: also when the links on the way lead in a circle. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP"].includes(systemCode(error) ?? "");
}

/** What a call gives, or undefined when the file is not there. */
export async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
