import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { EnforcementFinding } from "../enforcement.js";
import { isConfinementError } from "../errors.js";
import { findInterpreter } from "../program/find-interpreter.js";
import type { ConfinementHost } from "../start/host.js";
import { fails, holds } from "./finding.js";
import { trialEnvironment, tryInside } from "./try-inside.js";
import { whenAllEnded } from "./when-all-ended.js";

// What it has loaded, not only what it is called: a launcher can find another installation's library.
const program = "import sys; print(sys.version.split()[0], sys.prefix, sys.base_prefix, sep='\\n'); import ssl, ctypes";
const outsideMs = 10_000;

/** Whether an interpreter is the same inside as outside. */
export async function tryInterpreter(
  host: ConfinementHost,
  name: string,
  interpreter: string,
  signal: AbortSignal | undefined,
): Promise<readonly EnforcementFinding[]> {
  try {
    const { file } = findInterpreter(interpreter);
    const args = ["-I", "-c", program];
    const outside = promisify(execFile)(file, args, {
      env: trialEnvironment,
      cwd: dirname(file),
      timeout: outsideMs,
      signal,
    });
    const [ours, theirs] = await whenAllEnded([
      outside.then(({ stdout }) => stdout),
      tryInside(host, { name, file, args, policy: {} }, signal),
    ]);
    return [judge(ours, theirs.stdout, theirs.stderr)];
  } catch (error) {
    signal?.throwIfAborted();
    return [notStarted(interpreter, error)];
  }
}

function judge(ours: string, theirs: string, stderr: string): EnforcementFinding {
  const [version, prefix] = theirs.split("\n");
  if (ours === theirs && stderr === "")
    return holds("interpreter", "bubblewrap", `inside it is ${version} of ${prefix}`);
  const words = stderr.trim().split("\n").at(-1)?.slice(0, 200) ?? "";
  return fails("interpreter", `outside it is ${oneLine(ours)}, inside ${oneLine(theirs) || words}`, {
    cause: words || "inside, it finds another installation than outside",
    cure: "name an interpreter whose installation lies in one folder that this user can read, such as /usr/bin/python3",
  });
}

function oneLine(text: string): string {
  return text.trim().replaceAll("\n", " of ").slice(0, 200);
}

function notStarted(interpreter: string, error: unknown): EnforcementFinding {
  const cause = error instanceof Error ? (error.message.split("\n")[0] ?? error.name) : String(error);
  const cure = isConfinementError(error) ? error.cure : undefined;
  return fails("interpreter", `${interpreter} was not started`, {
    cause,
    cure: cure ?? "name an interpreter that this user can start",
  });
}
