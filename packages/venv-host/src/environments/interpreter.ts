import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, constants, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { VenvHostError } from "../errors.js";
import { askProgram } from "./ask-program.js";
import { systemCode } from "./system-fault.js";

/** A Python interpreter, as it says itself and as it was measured. */
export interface Interpreter {
  /** Where links lead. */
  readonly path: string;
  /** For instance `3.11.7`. */
  readonly version: string;
  /** For instance `cpython-311-x86_64-linux-gnu`. */
  readonly abi: string;
  /** For instance `linux x86_64`. */
  readonly platform: string;
  /** Hex SHA-256 of the executable. */
  readonly sha256: string;
  /** Where it is installed, links resolved; not part of its identity. */
  readonly prefix: string;
}

/** Finds and identifies interpreters; remembers those whose file has not changed. */
export interface Interpreters {
  identify(asked: string, signal: AbortSignal | undefined): Promise<Interpreter>;
}

// Separated by NUL, which no path holds. `-S`: the code of no site, and no environment, is run to ask this.
const question = `import sys, os, _imp
u = os.uname()
sys.stdout.write("\\0".join([sys.executable, "%d.%d.%d" % sys.version_info[:3], sys.implementation.name,
  _imp.extension_suffixes()[0], sys.platform, u.machine, sys.base_prefix]))`;

const oldest = [3, 10] as const;
const askLimits = { timeoutMs: 60_000, maxBytes: 65_536 } as const;
const maxRemembered = 64;
/** What a launcher of interpreters (pyenv and others) decides by. */
const launcherNames = ["PATH", "HOME", "PYENV_ROOT", "PYENV_VERSION", "PYENV_DIR", "LANG"] as const;

export function createInterpreters(env: NodeJS.ProcessEnv): Interpreters {
  const remembered = new Map<string, Interpreter>();
  return {
    identify: async (asked, signal) => {
      const found = await find(asked, env["PATH"] ?? "");
      const file = await realpath(found);
      const stamp = await stampOf(file);
      const known = remembered.get(stamp);
      if (known !== undefined) return known;
      const interpreter = await identify(asked, found, env, signal);
      // A launcher decides anew each time which interpreter it starts: only what runs itself is remembered.
      if (interpreter.path === file && remembered.size < maxRemembered) remembered.set(stamp, interpreter);
      return interpreter;
    },
  };
}

/** Changes when the file does. */
async function stampOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return [path, dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

async function find(asked: string, path: string): Promise<string> {
  if (isAbsolute(asked)) {
    if (await isExecutable(asked)) return asked;
    throw notFound(`there is no program ${asked}`);
  }
  if (!/^[\w.+-]{1,100}$/.test(asked)) throw notFound("an interpreter is an absolute path or a name on PATH");
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const candidate = join(folder, asked);
    if (await isExecutable(candidate)) return candidate;
  }
  throw notFound(`there is no ${asked} on PATH`);
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // one that cannot be looked at cannot be run either
  }
}

async function identify(
  asked: string,
  found: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<Interpreter> {
  const listed = Object.fromEntries(
    launcherNames.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
  const answer = await askProgram([found, "-I", "-S", "-c", question], { ...askLimits, env: listed, signal }).catch(
    (error: unknown) => {
      if (systemCode(error) === undefined) throw error;
      throw notFound(`${found} cannot be run: ${systemCode(error)}`, error);
    },
  );
  const [executable, version, implementation, suffix, platform, machine, prefix] = answer.stdout.split("\0");
  if (answer.code !== 0 || executable === undefined || version === undefined || prefix === undefined) {
    throw notFound(
      `${found} did not say what it is: ${answer.stopped ?? `exit code ${answer.code}`}`,
      undefined,
      answer.stderr,
    );
  }
  if (!isSupported(version) || implementation !== "cpython") {
    throw notFound(`${asked} is ${implementation} ${version}; CPython ${oldest.join(".")} or newer is needed`);
  }
  const path = await realpath(executable);
  // What runs later is the path without links, and that is what it finds its own files by.
  const home = await realpath(prefix).catch(() => prefix);
  const abi = (suffix ?? "").replace(/^\.|\.[a-z]+$/g, "");
  return { path, version, abi, platform: `${platform} ${machine}`, sha256: await digestOf(path, signal), prefix: home };
}

function isSupported(version: string): boolean {
  const [major, minor] = version.split(".").map(Number);
  return major === oldest[0] && (minor ?? 0) >= oldest[1];
}

async function digestOf(path: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576, signal })) hash.update(chunk);
  return hash.digest("hex");
}

function notFound(message: string, cause?: unknown, stderr?: string): VenvHostError {
  return new VenvHostError("INTERPRETER_NOT_FOUND", message, {
    cause,
    step: "interpreter",
    stderrExcerpt: stderr === "" ? undefined : stderr,
    cure: "install that Python, or name another interpreter by its absolute path",
  });
}
