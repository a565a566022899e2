import { join } from "node:path";
import type { IndexPolicy } from "../environment-store.js";
import type { Installer } from "../installer.js";
import type { SourcesAllowed } from "./source-distributions.js";

/** The command that makes an environment without pip in it: its installer works from outside. */
export function createArgv(installer: Installer | undefined, python: string, target: string): readonly string[] {
  if (installer?.kind !== "uv") return [python, "-I", "-m", "venv", "--without-pip", target];
  return [
    ...installer.argv,
    "venv",
    "--no-config",
    "--no-project",
    "--no-python-downloads",
    "--python",
    python,
    target,
  ];
}

/** What is installed, and where. */
export interface InstallTarget {
  readonly environment: string;
  readonly requirements: string;
  readonly constraints: string | undefined;
  readonly index: IndexPolicy;
  readonly requireHashes: boolean;
  readonly sources: SourcesAllowed;
}

/**
 * The command that installs. No two environments share a file: what uv links to is its own folder of this one build, which
 * goes before the environment is used. Modules are compiled by a step of its own: see compile-modules.ts.
 */
export function installArgv({ kind, argv }: Installer, target: InstallTarget): readonly string[] {
  const python = join(target.environment, "bin", "python");
  const common = [
    ...["-r", target.requirements],
    ...(target.constraints === undefined ? [] : ["-c", target.constraints]),
    ...(target.requireHashes ? ["--require-hashes"] : []),
    ...(target.index.from === "wheels"
      ? ["--no-index", ...target.index.folders.flatMap((each) => ["--find-links", each])]
      : []),
    ...wheelRules(target.sources),
  ];
  if (kind === "uv") {
    // It compiles only where it is told to: `--no-compile-bytecode` would clash with a host's UV_COMPILE_BYTECODE.
    const rules = ["--no-cache", "--link-mode", "hardlink", "--no-progress", "--color", "never"];
    return [...argv, "pip", "install", "--python", python, "--no-python-downloads", ...rules, ...common];
  }
  const rules = [
    "--no-cache-dir",
    "--no-compile",
    "--no-input",
    "--disable-pip-version-check",
    "--no-warn-script-location",
    "--progress-bar",
    "off",
  ];
  return [...argv, "--python", python, "install", ...rules, ...common];
}

/** Both installers take what is named one by one from source only, whatever is said of all. */
function wheelRules(sources: SourcesAllowed): readonly string[] {
  if (sources === "any") return [];
  return ["--only-binary", ":all:", ...sources.flatMap((name) => ["--no-binary", name])];
}
