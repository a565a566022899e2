import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { requirementsFault, requirementsLimits } from "./requirements-fault.js";

/** A requirement that is a file of this machine. */
export interface LocalFile {
  readonly path: string;
  /** Its name and digest: what counts for the key. */
  readonly identity: string;
}

/** The path that a requirement names, relative ones from `folder`; undefined for one that names a distribution. */
export function localPathOf(line: string, folder: string): string | undefined {
  const spec = line.replace(/\s+;.*$/, "");
  if (/^file:/i.test(spec)) return fileUrlPath(spec);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(spec)) return undefined;
  const isPath =
    /^(\.{1,2}$|\.{0,2}\/|~)/.test(spec) || (/\.(whl|zip|tar\.gz|tgz)$/i.test(spec) && !spec.includes("@"));
  if (!isPath) return undefined;
  return isAbsolute(spec) ? spec : join(folder, spec);
}

function fileUrlPath(url: string): string | undefined {
  try {
    const parsed = new URL(url);
    parsed.hash = "";
    return fileURLToPath(parsed);
  } catch {
    return undefined; // the caller refuses what is neither a path nor a distribution
  }
}

/** Measures it. A folder is refused: its content may change under an environment that was made from it. */
export async function readLocalFile(path: string, where: string): Promise<LocalFile> {
  const stats = await stat(path).catch((error: unknown) => {
    throw requirementsFault(where, `names the file ${path}, which cannot be read`, error);
  });
  if (!stats.isFile())
    throw requirementsFault(where, `names ${path}, which is no file: build a wheel of it and name that`);
  if (stats.size > requirementsLimits.maxLocalBytes) {
    throw requirementsFault(where, `names ${path}, which has more than ${requirementsLimits.maxLocalBytes} bytes`);
  }
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return { path, identity: `${basename(path)} sha256:${hash.digest("hex")}` };
}
