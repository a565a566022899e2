import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { SessionError, type SessionErrorCode } from "../errors.js";
import type { FileEntry, SessionFiles, Variable } from "../session.js";
import type { SessionTerms } from "../session-terms.js";
import { readCount, readEntry, readList, readObject, readText, readVariable, WireFault } from "./wire.js";
import { WorkerRefusal } from "./worker-channel.js";

/** Asks the worker; rejects with WorkerRefusal, or for good when the worker is gone. */
export type Ask = (method: string, params: JsonObject) => Promise<JsonValue>;

const chunkBytes = 196_608;
const maxEntries = 10_000;
const maxVariables = 1_000;

/** Files of the workspace by way of the worker. Bytes go in pieces: no file has to be in a frame. */
export function createWorkerFiles(ask: Ask, terms: SessionTerms): SessionFiles {
  return {
    list: ({ path = "", signal } = {}) => within(ask, path, signal, (step) => list(step, path)),
    read: (path, { signal } = {}) => within(ask, path, signal, (step) => read(step, path, terms.maxFileBytes)),
    write: (path, bytes, { signal } = {}) =>
      within(ask, path, signal, (step) => {
        if (bytes.length > terms.maxFileBytes) throw tooLarge(path, bytes.length, terms.maxFileBytes);
        return write(step, path, bytes);
      }),
    remove: (path, { signal } = {}) =>
      within(ask, path, signal, async (step) => {
        await step("files.remove", { path });
      }),
  };
}

/** Names that code has defined, at most 1000. */
export async function askVariables(ask: Ask): Promise<readonly Variable[]> {
  const { variables } = readObject(await ask("variables", {}));
  return readList(variables, maxVariables).map(readVariable);
}

/** A request for the next step of one transfer. */
type Step = (method: string, params: JsonObject) => Promise<JsonObject>;

/** One operation: an abort ends it before its next step, and the worker lets go of what it holds open. */
async function within<T>(
  ask: Ask,
  path: string,
  signal: AbortSignal | undefined,
  work: (step: Step) => Promise<T> | T,
): Promise<T> {
  let handle: number | undefined;
  const step: Step = async (method, params) => {
    signal?.throwIfAborted();
    const told = readObject(await ask(method, handle === undefined ? params : { ...params, handle }));
    if (told["next"] !== undefined && told["next"] !== null) handle = readCount(told["next"]);
    if (told["done"] === true) handle = undefined;
    return told;
  };
  try {
    return await work(step);
  } catch (error) {
    // A refused step has let go by itself; to drop what is not held does no harm.
    if (handle !== undefined) void ask("files.drop", { handle }).catch(() => undefined);
    throw error instanceof WorkerRefusal ? refused(error, path) : error;
  }
}

async function list(step: Step, path: string): Promise<readonly FileEntry[]> {
  const first = await step("files.list", { path });
  const entries = readList(first["entries"], maxEntries).map(readEntry);
  let isDone = first["next"] === null;
  while (!isDone) {
    const page = await step("files.next", {});
    entries.push(...readList(page["entries"], maxEntries - entries.length).map(readEntry));
    isDone = page["done"] === true;
  }
  return entries;
}

async function read(step: Step, path: string, maxFileBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  let told = await step("files.read", { path });
  const isWhole = told["next"] === null;
  while (true) {
    const chunk = Buffer.from(readText(told["data"]), "base64");
    size += chunk.length;
    // Also says that a worker which never ends is not ours.
    if (size > maxFileBytes) throw tooLarge(path, size, maxFileBytes);
    chunks.push(chunk);
    if (isWhole || told["done"] === true) return Buffer.concat(chunks);
    if (chunk.length === 0) throw new WireFault("an empty piece of a file");
    told = await step("files.next", {});
  }
}

async function write(step: Step, path: string, bytes: Uint8Array): Promise<FileEntry> {
  await step("files.write", { path });
  for (let at = 0; ; at += chunkBytes) {
    const last = at + chunkBytes >= bytes.length;
    const data = Buffer.from(bytes.subarray(at, at + chunkBytes)).toString("base64");
    const told = await step("files.next", { data, last });
    if (last) return readEntry(told["entry"]);
  }
}

const codes: readonly SessionErrorCode[] = ["FILE_NOT_FOUND", "FILE_PATH_INVALID", "FILE_TOO_LARGE", "FILE_REFUSED"];

function refused({ reason, message }: WorkerRefusal, path: string): SessionError {
  const code = codes.find((known) => known === reason) ?? "FILE_REFUSED";
  return new SessionError(code, `${shown(path)}: ${message}`);
}

function tooLarge(path: string, size: number, limit: number): SessionError {
  return new SessionError("FILE_TOO_LARGE", `${shown(path)}: ${size} bytes are over maxFileBytes (${limit})`);
}

function shown(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}
