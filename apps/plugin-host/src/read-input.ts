import { readText } from "@berth/state-folder";
import type { JsonValue } from "@berth/venv-host/executor";
import { AppError, ofState } from "./errors.js";

/** Largest document that is read, in bytes. */
const maxDocumentBytes = 64 * 1024 * 1024;

/**
 * Reads JSON documents, one after another; `-` is standard input, which there is once.
 * @throws {AppError} `USAGE`, `PAYLOAD_INVALID`; never with a part of what was read, which may be a token.
 */
export async function readDocuments(
  places: readonly (string | undefined)[],
): Promise<readonly (JsonValue | undefined)[]> {
  if (places.filter((place) => place === "-").length > 1) {
    throw new AppError("USAGE", "standard input can be only one of --payload, --context, --extensions, --credentials");
  }
  const documents: (JsonValue | undefined)[] = [];
  for (const place of places) documents.push(place === undefined ? undefined : await readDocument(place));
  return documents;
}

async function readDocument(place: string): Promise<JsonValue> {
  const text = await (place === "-" ? readStandardInput() : readFileText(place));
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("PAYLOAD_INVALID", `${place === "-" ? "standard input" : place} is not JSON`);
  }
}

async function readFileText(path: string): Promise<string> {
  try {
    return await readText(path, maxDocumentBytes).catch(ofState);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("USAGE", `${path} cannot be read`, { cause });
  }
}

/** Not by its path: one that is a socket cannot be opened again. */
async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk);
    length += bytes.byteLength;
    if (length > maxDocumentBytes)
      throw new AppError("USAGE", `standard input has more than ${maxDocumentBytes} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}
