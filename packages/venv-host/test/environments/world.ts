/** What the tests of environments share: a scratch folder, wheels that they make themselves, and stores that are offline. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type Scheduler, systemScheduler } from "@berth/jsonrpc-framing";
import { expect, onTestFinished } from "vitest";
import { hasPart, scratchFolder } from "../../../../fixtures/parts.js";
import {
  type EnvironmentStore,
  type EnvironmentStoreOptions,
  isVenvHostError,
  openEnvironmentStore,
  type VenvHostError,
} from "../../src/index.js";

/** An interpreter of the system: not a launcher that decides anew each time. */
export const python = "/usr/bin/python3";
export const uvFolder: string = join(scratchFolder, "uv", "bin");

/** Has uv on PATH, for this process and those that it starts, where the machine has it: builds are ten times as fast. */
export function preferUv(): "uv" | "pip" {
  if (!hasPart("uv")) return "pip";
  process.env["PATH"] = `${uvFolder}:${process.env["PATH"] ?? ""}`;
  return "uv";
}

/** A folder that the test leaves nothing of. */
export function scratch(): string {
  const folder = mkdtempSync("/tmp/berth-venv-");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// By Python's own zip writer, after the binary distribution format's specification.
const wheelProgram = `
import base64, hashlib, json, sys, zipfile
path, name, version = sys.argv[1:]
info = f"{name}-{version}.dist-info"
files = {
    f"{name}/__init__.py": f"told = '{name} {version}'\\ndef main():\\n    print(told)\\n",
    f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n",
    f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    f"{info}/entry_points.txt": f"[console_scripts]\\n{name}-says = {name}:main\\n",
    **json.load(sys.stdin),
}
record = ""
for each, content in files.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
    record += f"{each},sha256={digest},{len(content.encode())}\\n"
files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\\n"
with zipfile.ZipFile(path, "w") as wheel:
    for each, content in files.items():
        wheel.writestr(each, content)
`;

/** Makes a small pure wheel with a console script `NAME-says`; gives its path. */
export function makeWheel(folder: string, name: string, version: string, files: Record<string, string> = {}): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}-${version}-py3-none-any.whl`);
  execFileSync(python, ["-c", wheelProgram, path, name, version], { input: JSON.stringify(files) });
  return path;
}

const sourceProgram = fileURLToPath(new URL("./programs/make_source.py", import.meta.url));

/** Makes a source distribution; its code writes the name into the file `ran` each time when it runs. Gives its path. */
export function makeSource(folder: string, name: string, version: string, ran: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}-${version}.tar.gz`);
  execFileSync(python, [sourceProgram, path, name, version, ran]);
  return path;
}

/** A folder with wheels and a requirements file, and a store beside it. */
export interface World {
  readonly folder: string;
  readonly wheels: string;
  readonly requirements: string;
  readonly storePath: string;
  readonly options: EnvironmentStoreOptions;
  write(name: string, content: string): string;
  open(more?: Partial<EnvironmentStoreOptions>): Promise<EnvironmentStore>;
}

/** `apple` 1.0 is in the folder of wheels and asked for, `pear` 2.0 is there too. */
export function makeWorld(installer: "uv" | "pip" = "pip"): World {
  const folder = scratch();
  const wheels = join(folder, "wheels");
  makeWheel(wheels, "apple", "1.0");
  makeWheel(wheels, "pear", "2.0");
  const write = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const options: EnvironmentStoreOptions = {
    path: join(folder, "store"),
    installer,
    index: { from: "wheels", folders: [wheels] },
  };
  return {
    folder,
    wheels,
    requirements: write("requirements.txt", "apple==1.0\n"),
    storePath: join(folder, "store"),
    options,
    write,
    open: async (more = {}) => {
      const store = await openEnvironmentStore({ ...options, ...more });
      onTestFinished(() => store.close());
      return store;
    },
  };
}

/** What a program of an environment prints. */
export function says(file: string, args: readonly string[] = []): string {
  return execFileSync(file, args, { encoding: "utf8", env: { PATH: "/usr/bin:/bin" } }).trim();
}

/** A program of `programs/` that acquires an environment of a store. */
export interface Acquirer {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null; readonly out: string }>;
  /** When it printed its first line. */
  readonly spoke: Promise<string>;
}

const program = fileURLToPath(new URL("./programs/acquire.mjs", import.meta.url));
const killer = new URL("./programs/kill-at-write.mjs", import.meta.url).href;

/** Starts it; `killAt`: it is killed with SIGKILL just before (or after) so many writing calls of the file system. */
export function startAcquirer(job: object, env: Record<string, string> = {}, isKilled = false): Acquirer {
  const args = [...(isKilled ? ["--import", killer] : []), program, JSON.stringify(job)];
  const child = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "/", ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const { stdout } = child;
  if (stdout === null) throw new Error("no stdout");
  const spoke = once(stdout, "data").then(([chunk]) => String(chunk).split("\n")[0] ?? "");
  spoke.catch(() => {}); // asked for only by some
  const ended = Promise.all([once(child, "exit", { signal: AbortSignal.timeout(120_000) }), text(stdout)]).then(
    ([[code, signal], out]) => ({ code, signal, out }),
  );
  return { child, spoke, ended };
}

/** The error of a call that must fail as this package does. */
export async function failure(work: Promise<unknown>): Promise<VenvHostError> {
  const error: unknown = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!isVenvHostError(error)) throw error ?? new Error("nothing failed");
  return error;
}

/** After a build that failed: no file of it is left, and another one is good. */
export async function expectNothingLeft(world: World): Promise<void> {
  expect(readdirSync(join(world.storePath, "tmp"))).toEqual([]);
  expect(readdirSync(join(world.storePath, "uses"))).toEqual([]);
  expect(readdirSync(join(world.storePath, "environments"))).toEqual([]);
  const store = await world.open();
  const held = await store.acquire({ interpreter: python, requirements: world.requirements });
  expect(says(held.python, ["-c", "import apple; print(apple.told)"])).toBe("apple 1.0");
}

/** Real time, but for one timer, which passes when the test says so. */
export function timeWith(delayMs: number): Scheduler & { readonly pass: () => void } {
  let pass = (): void => {
    throw new Error(`nobody waits for ${delayMs} ms`);
  };
  return {
    now: () => systemScheduler.now(),
    after: (wantedMs, callback) => {
      if (wantedMs !== delayMs) return systemScheduler.after(wantedMs, callback);
      pass = callback;
      return { cancel: () => {}, hold: () => {} };
    },
    pass: () => pass(),
  };
}
