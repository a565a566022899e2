import { AttestationError } from "../errors.js";
import { pathOfText, shown } from "../measure/byte-path.js";
import type { CoveragePlan } from "./coverage.js";
import type { Followed } from "./follow.js";
import { virtualEnvironmentOf } from "./package-root.js";
import type { FoundTarget } from "./target.js";

/** What a copy leaves behind although the target needs it. */
const needed = /^(?:hoisted-modules|preload|environment):/;

/**
 * Refuses to snapshot what the copy alone could not run, or what would run bytes from outside the copy.
 * @throws {AttestationError} `SNAPSHOT_INCOMPLETE`
 */
export function refuseIncomplete(followed: Followed, target: FoundTarget, coverage: CoveragePlan): void {
  const environment =
    followed.table?.family === "python" ? virtualEnvironmentOf(pathOfText(followed.program.path)) : undefined;
  if (environment !== undefined) {
    throw incomplete(
      `the virtual environment ${shown(environment)} cannot be copied: its packages load from there`,
      'set "guard": "recheck"',
    );
  }
  if (target.word === undefined) {
    throw incomplete(
      "the target is outside argv, so argv cannot be led to a copy",
      'run the script file, or set "guard": "recheck"',
    );
  }
  if (target.word.from === undefined) {
    throw incomplete(
      "the target comes from a #! line or env -S, not from args",
      "write the interpreter in command and the script in args",
    );
  }
  const outside = coverage.leavesOut.find((part) => needed.test(part));
  if (outside !== undefined) {
    throw incomplete(`what runs also loads ${outside}, which the copy does not hold`, adviceFor(outside));
  }
}

function adviceFor(part: string): string {
  if (part.startsWith("hoisted-modules:")) return "name the folder that holds both in measureTarget";
  if (part.startsWith("preload:")) return 'put what the option loads into the package, or set "guard": "recheck"';
  return 'take the variable out of env, or set "guard": "recheck"';
}

function incomplete(why: string, advice: string): AttestationError {
  return new AttestationError("SNAPSHOT_INCOMPLETE", `no snapshot can be made: ${why}`, { advice });
}
