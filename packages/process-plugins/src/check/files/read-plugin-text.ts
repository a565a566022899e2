import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";

/** A text of a plugin's folder: `absent`, or why it is not to be read. */
export type PluginText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable"; readonly why: string };

/** Reads a file of a folder that an attacker wrote: no link and no pipe, within the bound, and UTF-8. */
export async function readPluginText(folder: string, name: string, maxBytes: number): Promise<PluginText> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "absent" };
    return unreadable(code === "ELOOP" ? `${name} is a link` : `${name} cannot be opened: ${String(code ?? error)}`);
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return unreadable(`${name} is no file`);
    const buffer = Buffer.alloc(Math.min(maxBytes, stat.size) + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > maxBytes) return unreadable(`${name} has more than ${maxBytes} bytes`);
    // A byte order mark stays: whether a file may begin with one is for who reads it.
    const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return { kind: "text", text: utf8.decode(buffer.subarray(0, length)) };
  } catch (error) {
    if (error instanceof TypeError) return unreadable(`${name} is not UTF-8`);
    throw error;
  } finally {
    await file.close();
  }
}

function unreadable(why: string): PluginText {
  return { kind: "unreadable", why };
}
