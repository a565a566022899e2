import { access, constants, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { VenvHostError } from "../errors.js";
import { askProgram } from "./ask-program.js";
import type { Interpreter } from "./interpreter.js";

/** What installs. */
export interface Installer {
  readonly kind: "uv" | "pip";
  /** Name and version, for instance `uv 0.13.9`. */
  readonly version: string;
  /** How it is started. */
  readonly argv: readonly [string, ...string[]];
}

/** Finds installers; remembers them. */
export interface Installers {
  find(interpreter: Interpreter, signal: AbortSignal | undefined): Promise<Installer>;
}

const askLimits = { timeoutMs: 60_000, maxBytes: 65_536 } as const;

// pip of the interpreter itself, else the wheel that ensurepip would install: Debian keeps it apart.
const pipQuestion = `import sys
try:
  import pip
  sys.stdout.write("module\\0" + pip.__version__)
except ImportError:
  import os, sysconfig
  found = []
  try:
    import ensurepip
    found.append(os.path.join(os.path.dirname(ensurepip.__file__), "_bundled"))
  except ImportError: pass
  found += [sysconfig.get_config_var("WHEEL_PKG_DIR"), "/usr/share/python-wheels"]
  for folder in found:
    for name in sorted(os.listdir(folder)) if folder and os.path.isdir(folder) else []:
      if name.startswith("pip-") and name.endswith(".whl"):
        sys.stdout.write(os.path.join(folder, name) + "\\0" + name.split("-")[1])
        sys.exit(0)`;

export function createInstallers(choice: "auto" | "uv" | "pip", env: NodeJS.ProcessEnv): Installers {
  const remembered = new Map<string, Installer>();
  return {
    find: async (interpreter, signal) => {
      const uv = choice === "pip" ? undefined : await findUv(env["PATH"] ?? "");
      if (uv === undefined && choice === "uv")
        throw none("there is no uv on PATH", "install uv, or choose another installer");
      const stamp = await stampOf(uv ?? interpreter.path);
      const known = remembered.get(stamp);
      if (known !== undefined) return known;
      const installer = uv === undefined ? await askPip(interpreter, signal) : await askUv(uv, signal);
      // pip may be upgraded without a change of the interpreter's file.
      if (installer.kind === "uv") remembered.set(stamp, installer);
      return installer;
    },
  };
}

async function stampOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
  return [path, dev, ino, size, mtimeNs].join(" ");
}

async function findUv(path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const candidate = join(folder, "uv");
    try {
      await access(candidate, constants.X_OK);
      if ((await stat(candidate)).isFile()) return await realpath(candidate);
    } catch {
      // not here
    }
  }
  return undefined;
}

async function askUv(uv: string, signal: AbortSignal | undefined): Promise<Installer> {
  const answer = await askProgram([uv, "--version"], { ...askLimits, env: { UV_NO_CONFIG: "1" }, signal });
  const version = /^uv (\d[\w.+-]*)/.exec(answer.stdout)?.[1];
  if (answer.code === 0 && version !== undefined) return { kind: "uv", version: `uv ${version}`, argv: [uv] };
  throw none(`${uv} does not say its version`, "repair uv, or choose another installer");
}

async function askPip({ path }: Interpreter, signal: AbortSignal | undefined): Promise<Installer> {
  const answer = await askProgram([path, "-I", "-c", pipQuestion], { ...askLimits, env: {}, signal });
  const [where, version] = answer.stdout.split("\0");
  if (answer.code !== 0 || where === undefined || version === undefined) {
    throw none(`neither uv nor a pip for ${path} is on this machine`, "install uv, or python3-pip, or python3-venv");
  }
  const argv = where === "module" ? (["-I", "-m", "pip"] as const) : (["-I", `${where}/pip`] as const);
  return { kind: "pip", version: `pip ${version}`, argv: [path, ...argv] };
}

function none(message: string, cure: string): VenvHostError {
  return new VenvHostError("VENV_BUILD_FAILED", message, { step: "installer", cure });
}
