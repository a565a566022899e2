import { randomBytes } from "node:crypto";
import { mkdir, realpath, statfs, unlink } from "node:fs/promises";
import { join } from "node:path";
import { systemScheduler } from "@berth/jsonrpc-framing";
import { sha256 } from "../canonical.js";
import { type BuildLock, isHeld, type LockHolder, tryLock } from "../environments/locks/build-lock.js";
import { thisProcess, type Viewer } from "../environments/locks/process-name.js";
import { createUses } from "../environments/locks/uses.js";
import { pause } from "../environments/pause.js";
import { replaceFile } from "../environments/small-file.js";
import { isLocalFileSystem } from "../environments/store-folder.js";
import { inStore, systemCode, unlessMissing } from "../environments/system-fault.js";
import { VenvHostError } from "../errors.js";
import { expectedMetadata, requirementsOnDisk } from "./find-installed.js";
import type { ClaimOptions, InstalledClaim, InstalledEnvironmentOptions } from "./installed-environment.js";
import { type InstalledFiles, installedFiles } from "./installed-files.js";
import { readMetadata } from "./installed-metadata.js";
import { ownersText, readOwners } from "./owners-file.js";

const patienceMs = 30_000;
const lookEveryMs = 20;

/**
 * Says that a class uses an installed environment, as the other hosts read it: in `owners.json`, and in metadata of the
 * class where only the Python command line's were. A claim that a dead process of ours left is taken over, not added to.
 * In a folder that may not be written nothing is said. Call it for a `valid` environment only.
 * @throws {VenvHostError} `OPTION_INVALID`, `STORE_UNUSABLE`, and the signal's reason.
 */
export async function claimInstalledEnvironment(
  options: InstalledEnvironmentOptions,
  { signal = new AbortController().signal }: ClaimOptions = {},
): Promise<InstalledClaim> {
  const files = installedFiles(options);
  const claim = await claims(files, options.className);
  try {
    const end = await claim.begin(signal, () => noteMetadata(files, options.version));
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> => (closing ??= end());
    return { close, [Symbol.asyncDispose]: close };
  } catch (error) {
    const cause = error instanceof VenvHostError ? error.cause : error;
    if (!["EROFS", "EACCES", "EPERM"].includes(systemCode(cause) ?? "")) throw error;
    return { close: () => Promise.resolve(), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
}

interface Claims {
  begin(signal: AbortSignal, alsoDo: () => Promise<void>): Promise<() => Promise<void>>;
}

async function claims(files: InstalledFiles, className: string): Promise<Claims> {
  const ours = join(files.cache, "berth");
  const random = (): string => randomBytes(8).toString("hex");
  const viewer: Viewer = { self: thisProcess(), isLocal: isLocalFileSystem((await statfs(files.environment)).type) };
  const uses = createUses(ours, ours, viewer, random);
  // A class name may be longer than a file's.
  const key = sha256(className);
  const locked = <T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> =>
    inStore(files.cache, "owners", async () => {
      await mkdir(ours, { recursive: true, mode: 0o700 });
      const lock = await waitForLock(join(ours, "lock"), viewer, random, signal);
      try {
        return await act();
      } finally {
        await lock.release();
      }
    });
  const change = async (edit: (owners: readonly string[]) => readonly string[]): Promise<void> => {
    const owners = edit(await readOwners(files.owners));
    // As the other hosts do with the last owner.
    if (owners.length === 0) await unlessMissing(unlink(files.owners));
    else await replaceFile(files.owners, join(ours, `owners.${random()}`), ownersText(owners));
  };
  const end = (use: { end(atMs: number): Promise<void> }): Promise<void> =>
    locked(new AbortController().signal, async () => {
      await use.end(Date.now());
      await uses.forget(key);
      if ((await uses.holders(key)).length === 0)
        await change((owners) => owners.filter((owner) => owner !== className));
    });
  return {
    begin: (signal, alsoDo) =>
      locked(signal, async () => {
        const use = await uses.begin(key);
        await change((owners) => [...owners, className]);
        await alsoDo();
        return () => end(use);
      }),
  };
}

async function waitForLock(
  folder: string,
  viewer: Viewer,
  random: () => string,
  signal: AbortSignal,
): Promise<BuildLock> {
  const startMs = systemScheduler.now();
  for (;;) {
    signal.throwIfAborted();
    const outcome: BuildLock | LockHolder = await tryLock(folder, viewer, random);
    if (isHeld(outcome)) return outcome;
    if (systemScheduler.now() - startMs > patienceMs) {
      const message = `process ${outcome.name?.pid ?? "unknown"} has changed the owners of an environment for more than ${patienceMs} ms`;
      throw new VenvHostError("STORE_UNUSABLE", message, {
        step: "owners",
        cure: `if it is gone, remove ${outcome.file}`,
      });
    }
    await pause(lookEveryMs, systemScheduler, signal);
  }
}

/** So that a host which reads only a class's own metadata does not build anew what the command line made. */
async function noteMetadata(files: InstalledFiles, version: string | undefined): Promise<void> {
  if ((await readMetadata(files.classMetadata)) !== "missing") return;
  if ((await readMetadata(files.sharedMetadata)) === "missing") return;
  const expected = await expectedMetadata(files, version);
  if (expected.requirementsHash === undefined || expected.manifestHash === undefined) return;
  const metadata = {
    venv_path: await realpath(files.environment),
    requirements_file: await requirementsOnDisk(files),
    requirements_hash: expected.requirementsHash,
    ...(version === undefined ? {} : { manifest_version: version }),
    manifest_hash: expected.manifestHash,
    python_version: null,
  };
  const draft = join(files.cache, "berth", `metadata.${randomBytes(8).toString("hex")}`);
  await replaceFile(files.classMetadata, draft, JSON.stringify(metadata, undefined, 2));
}
