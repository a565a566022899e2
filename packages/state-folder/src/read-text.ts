import { open } from "node:fs/promises";
import { StateError } from "./errors.js";

/**
 * A file's text, as UTF-8. Memory is spent up to the limit only, in bytes. Pipes may be read too, such as a shell's `<(…)`, and
 * are waited for until they end.
 * @throws {StateError} `TEXT_TOO_LARGE`; the system's errors as they are.
 */
export async function readText(path: string, maxBytes: number): Promise<string> {
  const file = await open(path);
  try {
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
