import { execFileSync, spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "vitest";
import { type AttestationErrorCode, isAttestationError, type Launch, type SpawnDescription } from "../../src/index.js";

/** The Node that runs the tests. */
export const nodePath: string = realpathSync(process.execPath);

/** A listed environment: a PATH with Node and the system's own programs, and nothing else. */
export const env: Readonly<Record<string, string>> = { PATH: `${dirname(nodePath)}:/usr/bin:/bin` };

let python: string | undefined;

/** A real Python interpreter, not a version manager's shim. */
export function pythonPath(): string {
  python ??= execFileSync("python3", ["-c", "import os, sys; print(os.path.realpath(sys.executable))"], {
    encoding: "utf8",
  }).trim();
  return python;
}

/** A virtual environment without pip: made offline in a tenth of a second. */
export function makeVenv(folder: string): string {
  execFileSync(pythonPath(), ["-m", "venv", "--without-pip", folder]);
  return folder;
}

export function describe(
  command: string,
  args: readonly string[],
  more: Partial<SpawnDescription> = {},
): SpawnDescription {
  return { command, args, env, ...more };
}

/** Runs a launch to its end, exactly as it was handed over, and gives back what it printed. */
export function runLaunch({ file, argv0, args, env: environment, cwd }: Launch): string {
  const run = spawnSync(file, args, { argv0, env: environment, cwd, encoding: "utf8", timeout: 20_000 });
  if (run.error !== undefined || run.status !== 0)
    throw new Error(`${file} failed: ${run.stderr}`, { cause: run.error });
  return run.stdout;
}

/** The refusal's code, checked to have advice that a person can follow. */
export async function refusal(promise: Promise<unknown>): Promise<AttestationErrorCode> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isAttestationError(error)) throw new Error("was not refused with an AttestationError", { cause: error });
  expect(error.message).not.toBe("");
  expect(error.advice).not.toBe("");
  return error.code;
}
