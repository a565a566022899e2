import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { mediaTypeOf } from "./media-type.js";

/** Built files of the page, by their path; read once, so that no request names a file of this machine. */
export type PageFiles = (path: string) => Promise<Response | undefined>;

/** All files together. */
const maxPageBytes = 32 * 1_024 * 1_024;

/** A folder that is not there has no files. */
export function openPageFiles(folder: string | undefined): PageFiles {
  let reading: Promise<ReadonlyMap<string, Uint8Array>> | undefined;
  return async (path) => {
    if (folder === undefined) return undefined;
    reading ??= readFolder(folder);
    const name = path === "/" ? "/index.html" : path;
    const bytes = (await reading).get(name);
    return bytes === undefined ? undefined : new Response(Buffer.from(bytes), { headers: headersOf(name) });
  };
}

async function readFolder(folder: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  let size = 0;
  for (const entry of await entriesOf(folder)) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    size += bytes.length;
    if (size > maxPageBytes) throw new Error(`the page's files in ${folder} are larger than ${maxPageBytes} bytes`);
    files.set(`/${relative(folder, path).split(sep).join("/")}`, bytes);
  }
  return files;
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/**
 * Nothing but the page's own script runs, no text becomes markup (Trusted Types), and nothing is reached but this server. Pictures of
 * code are `data:`, its HTML is in frames of `blob:` without rights, which inherit this policy: inline styles are for them.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src data:",
  "connect-src 'self'",
  "frame-src blob:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

function headersOf(name: string): Record<string, string> {
  const type = mediaTypeOf(name);
  return {
    "content-type": type.startsWith("text/") ? `${type}; charset=utf-8` : type,
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
  };
}
