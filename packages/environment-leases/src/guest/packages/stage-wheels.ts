import { createHash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ApprovedWheel } from "../../environment.js";
import { LeaseError } from "../../errors.js";
import { wheelFaults } from "./wheel-faults.js";

const maxWheelBytes = 256 * 1024 * 1024;
const chunkBytes = 1024 * 1024;

/** Copies of approved wheels in a folder that the guest can only read. */
export interface StagedWheels extends AsyncDisposable {
  /** Paths below the folder of wheels. */
  readonly names: readonly string[];
}

/**
 * Copies each wheel and then hashes the copy: what was checked is what is installed, whatever becomes of the original.
 * @throws {LeaseError} `WHEEL_REFUSED`.
 */
export async function stageWheels(
  folder: string,
  wheels: readonly ApprovedWheel[],
  signal?: AbortSignal,
): Promise<StagedWheels> {
  const faults = wheelFaults(wheels);
  if (faults.length > 0) throw new LeaseError("WHEEL_REFUSED", "the wheels cannot be read", { faults });
  const batch = await mkdtemp(join(folder, "b"));
  const remove = (): Promise<void> => rm(batch, { recursive: true, force: true });
  try {
    for (const wheel of wheels) await stageWheel(batch, wheel, signal);
  } catch (error) {
    await remove();
    throw error;
  }
  const names = wheels.map(({ path }) => join(basename(batch), basename(path)));
  return { names, [Symbol.asyncDispose]: remove };
}

async function stageWheel(batch: string, { path, sha256 }: ApprovedWheel, signal?: AbortSignal): Promise<void> {
  const copy = join(batch, basename(path));
  await copyBounded(path, copy, signal);
  const hash = createHash("sha256");
  await pipeline(createReadStream(copy), hash, { signal });
  const found = hash.digest("hex");
  if (found === sha256.toLowerCase()) return;
  throw refused(path, `has SHA-256 ${found}, approved was ${sha256.toLowerCase()}`);
}

async function copyBounded(path: string, copy: string, signal?: AbortSignal): Promise<void> {
  await using source = await openFile(path);
  const { size, isRegular } = await source.stat().then((seen) => ({ size: seen.size, isRegular: seen.isFile() }));
  if (!isRegular) throw refused(path, "is not a regular file");
  if (size > maxWheelBytes) throw refused(path, `has ${size} bytes, at most ${maxWheelBytes} are taken`);
  await using target = await open(copy, "wx", 0o600);
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let copied = 0;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await source.read(buffer, 0, chunkBytes, copied);
    if (bytesRead === 0) break;
    copied += bytesRead;
    // A file that grows meanwhile is not followed.
    if (copied > size) break;
    await target.writeFile(buffer.subarray(0, bytesRead));
  }
  if (copied !== size) throw refused(path, "changed while it was copied");
}

async function openFile(path: string): Promise<Awaited<ReturnType<typeof open>>> {
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for its writer.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw new LeaseError("WHEEL_REFUSED", `${path} cannot be opened`, { cause });
  }
}

function refused(path: string, why: string): LeaseError {
  return new LeaseError("WHEEL_REFUSED", `${path} ${why}`);
}
