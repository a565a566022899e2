import { isUtf8 } from "node:buffer";
import { extname } from "node:path/posix";

const types: Readonly<Record<string, string>> = {
  ".csv": "text/csv",
  ".css": "text/css",
  ".gif": "image/gif",
  ".html": "text/html",
  ".ico": "image/x-icon",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".js": "text/javascript",
  ".json": "application/json",
  ".md": "text/markdown",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".py": "text/x-python",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

/** By the name alone: a hint. */
export function mediaTypeOf(path: string): string {
  return types[extname(path).toLowerCase()] ?? "application/octet-stream";
}

/** Undefined for what is no text. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? new TextDecoder().decode(bytes) : undefined;
}
