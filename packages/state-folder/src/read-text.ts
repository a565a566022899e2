import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { StateError } from "./errors.js";

/**
 * A regular file's text, as UTF-8. Memory is spent up to the limit only, in bytes. Of anything else nothing is read: a pipe
 * without a writer, or a terminal, would be waited for without an end.
 * @throws {StateError} `TEXT_TOO_LARGE`, `TEXT_NOT_A_FILE`; the system's errors as they are.
 */
export async function readText(path: string, maxBytes: number): Promise<string> {
  const file = await openFile(path);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw notAFile(path, found.isDirectory() ? "a folder" : "a pipe, a terminal or a device");
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of file.createReadStream({ end: maxBytes, autoClose: false })) {
      if (!Buffer.isBuffer(chunk)) throw new Error("a stream without encoding gives buffers");
      chunks.push(chunk);
      length += chunk.byteLength;
    }
    if (length > maxBytes) throw new StateError("TEXT_TOO_LARGE", `${path} has more than ${maxBytes} bytes`);
    return Buffer.concat(chunks).toString("utf8");
  } finally {
    await file.close();
  }
}

/** Without O_NONBLOCK a pipe's opening would wait for whoever writes; without O_NOCTTY a terminal could become this process's own. */
async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    // What open(2) says of a socket, and of a device that nothing drives.
    if (error instanceof Error && "code" in error && error.code === "ENXIO")
      throw notAFile(path, "a socket or a device", { cause: error });
    throw error;
  }
}

function notAFile(path: string, what: string, options?: ErrorOptions): StateError {
  return new StateError("TEXT_NOT_A_FILE", `${path} is ${what}, and has to be a regular file`, options);
}
