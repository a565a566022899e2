import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemCode } from "../system-fault.js";
import { requirementsFault, requirementsLimits } from "./requirements-fault.js";

/** A requirement that is a file of this machine. */
export interface LocalFile {
  readonly path: string;
  /** Its name and digest: what counts for the key. */
  readonly identity: string;
}

/** The path that a requirement is, relative ones from `folder`; undefined for one that names a distribution. */
export function localPathOf(spec: string, folder: string): string | undefined {
  if (/^file:/i.test(spec)) return fileUrlPath(spec);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(spec)) return undefined;
  const isPath =
    /^(\.{1,2}$|\.{0,2}\/|~)/.test(spec) ||
    (/\.(whl|zip|tar\.gz|tgz)(\[[^\]]*\])?$/i.test(spec) && !spec.includes("@"));
  if (!isPath) return undefined;
  return isAbsolute(spec) ? spec : join(folder, spec);
}

/** The path of a `file:` URL; undefined for one that is none. */
export function fileUrlPath(url: string): string | undefined {
  try {
    const parsed = new URL(url);
    parsed.hash = "";
    return fileURLToPath(parsed);
  } catch {
    return undefined; // the caller refuses what is neither a path nor a distribution
  }
}

/** Measures it. A folder is refused: its content may change under an environment that was made from it. */
export async function readLocalFile(path: string, where: string, signal?: AbortSignal): Promise<LocalFile> {
  const stats = await stat(path).catch((error: unknown) => {
    throw requirementsFault(where, `names the file ${path}, which cannot be read`, error);
  });
  if (!stats.isFile())
    throw requirementsFault(where, `names ${path}, which is no file: build a wheel of it and name that`);
  return { path, identity: `${basename(path)} sha256:${await digestOf(path, where, signal)}` };
}

/** Counted as it is read: the kernel's own files say that they are empty, and some have no end. */
async function digestOf(path: string, where: string, signal: AbortSignal | undefined): Promise<string> {
  const { maxLocalBytes } = requirementsLimits;
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576, signal })) {
      bytes += chunk.length;
      if (bytes > maxLocalBytes)
        throw requirementsFault(where, `names ${path}, which has more than ${maxLocalBytes} bytes`);
      hash.update(chunk);
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (systemCode(error) === undefined) throw error;
    throw requirementsFault(where, `names the file ${path}, which cannot be read`, error);
  }
  return hash.digest("hex");
}
