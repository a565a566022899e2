import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { findInterpreter, isConfinementError } from "@berth/process-confinement";
import { LeaseError } from "../errors.js";
import { guestSources } from "../guest-sources.js";
import { makeDraftFolder, removeDeadDrafts } from "./draft-folders.js";
import { createTurns } from "./turns.js";

/** The agent, compiled for one interpreter. */
export interface GuestProgram {
  /** As commands inside may name it. */
  readonly interpreter: string;
  /** Folder of the compiled agent; `main.pyc` in it is what runs. */
  readonly folder: string;
}

const compileTimeoutMs = 60_000;
const oldestMinor = 10;

// Compiled once for each interpreter: compiling at each start would take as long as the interpreter's own start.
// Its stdin ends with the host, also when that is killed. It writes into its current folder by plain names: py_compile would make
// a folder that is named again after it was removed as a dead one's draft.
const compileScript = `
import sys
if sys.version_info[:2] < (3, ${oldestMinor}):
    sys.exit("TOO_OLD")
import _thread, os, py_compile
def end_with_host():
    os.read(0, 1)
    os._exit(1)
_thread.start_new_thread(end_with_host, ())
source = sys.argv[1]
for name in os.listdir(source):
    if name.endswith(".py"):
        py_compile.compile(os.path.join(source, name), name + "c", name, True,
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
`;

/** Makes the agent ready for interpreters. */
export interface GuestPrograms {
  /**
   * Finds the interpreter that a template names and compiles the agent for it, unless that was done before.
   * @throws {LeaseError} `ENVIRONMENT_NOT_CREATED`.
   */
  prepare(template: string, signal?: AbortSignal): Promise<GuestProgram>;
}

/** Compiled agents lie below `folder`, where later processes find them too. What killed ones have half compiled is removed. */
export async function openGuestPrograms(folder: string): Promise<GuestPrograms> {
  const place = join(folder, "guest");
  await removeDeadDrafts(place);
  // One for each interpreter that was used; one that was replaced meanwhile is another one.
  const known = new Map<string, GuestProgram>();
  // Starts that come together would each compile the same: who waits finds what the first one has made.
  const turns = createTurns(1);
  return {
    async prepare(template, signal) {
      const interpreter = locate(template, await findInPath(template));
      const { mtimeMs, size, ino } = await stat(interpreter);
      const identity = JSON.stringify([interpreter, mtimeMs, size, ino]);
      const compiled = (): Promise<GuestProgram> => compileOnce(place, interpreter, identity, signal);
      const found = known.get(identity) ?? (await turns.take(compiled, signal));
      known.set(identity, found);
      return found;
    },
  };
}

async function compileOnce(
  folder: string,
  interpreter: string,
  identity: string,
  signal: AbortSignal | undefined,
): Promise<GuestProgram> {
  const target = join(folder, await keyOf(identity));
  if (await isFolder(target)) return { interpreter, folder: target };
  const fresh = await makeDraftFolder(folder);
  try {
    await compile(interpreter, fresh, signal);
    await rename(fresh, target);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    // Another one was faster; what it compiled is the same.
    if (!(await isFolder(target))) throw error;
  }
  return { interpreter, folder: target };
}

async function findInPath(template: string): Promise<string> {
  if (isAbsolute(template)) return template;
  if (!template.includes("/")) {
    for (const folder of (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute)) {
      if (await isFile(join(folder, template))) return join(folder, template);
    }
  }
  throw notCreated(`the template ${template} is neither an absolute path nor a program in PATH`);
}

function locate(template: string, path: string): string {
  try {
    return findInterpreter(path).file;
  } catch (cause) {
    if (!isConfinementError(cause)) throw cause;
    throw notCreated(`the template ${template} is no interpreter: ${cause.message}`, cause);
  }
}

/** Changes with the interpreter and with the agent, so that what was compiled for another is never run. */
async function keyOf(identity: string): Promise<string> {
  const hash = createHash("sha256").update(identity);
  const names = (await readdir(guestSources)).filter((name) => name.endsWith(".py")).sort();
  for (const name of names) hash.update(`${name}\0`).update(await readFile(join(guestSources, name)));
  return hash.digest("hex").slice(0, 16);
}

async function compile(interpreter: string, target: string, signal?: AbortSignal): Promise<void> {
  const args = ["-I", "-S", "-B", "-c", compileScript, guestSources];
  await new Promise<void>((resolve, reject) => {
    execFile(
      interpreter,
      args,
      { cwd: target, env: {}, timeout: compileTimeoutMs, signal },
      (error, _stdout, stderr) => {
        if (error === null) resolve();
        else if (signal?.aborted === true) reject(signal.reason);
        else if (stderr.includes("TOO_OLD"))
          reject(notCreated(`${interpreter} is older than Python 3.${oldestMinor}`, error));
        else reject(notCreated(`${interpreter} could not compile the agent: ${stderr.slice(-500)}`, error));
      },
    );
  });
}

function notCreated(message: string, cause?: unknown): LeaseError {
  return new LeaseError("ENVIRONMENT_NOT_CREATED", message, {
    cause,
    cure: "name a CPython of version 3.10 to 3.13 as the profile's template",
  });
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (seen) => seen.isFile(),
    () => false,
  );
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (seen) => seen.isDirectory(),
    () => false,
  );
}
