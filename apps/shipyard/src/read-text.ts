import { open } from "node:fs/promises";
import { ShipyardError } from "./errors.js";

/** Largest `shipyard.yaml`, in bytes. */
export const maxConfigBytes: number = 1024 * 1024;

/**
 * A file's text; pipes may be read too, such as a shell's `<(…)`. Memory is spent up to the limit only.
 * @throws {ShipyardError} `USAGE` for a file over the limit; the system's errors as they are.
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
    if (length > maxBytes) throw new ShipyardError("USAGE", `${path} has more than ${maxBytes} bytes`);
    return Buffer.concat(chunks).toString("utf8");
  } finally {
    await file.close();
  }
}
