import type { Guard, Launch } from "../description.js";
import { AttestationError, isAttestationError } from "../errors.js";
import { pathOfText, printable } from "../measure/byte-path.js";
import { type PathTrace, tracePath, type WatchedFile } from "../measure/trace.js";
import type { LaunchTerms } from "../terms.js";
import { type CoveragePlan, planCoverage } from "./coverage.js";
import { baseName, type Followed, followCommand, type Word } from "./follow.js";
import { filesBeside } from "./interpreter-files.js";
import { refuseLauncher } from "./launchers.js";
import { type FoundProgram, findProgram } from "./lookup.js";
import { keepsFromCache } from "./python.js";
import { refuseIncomplete } from "./self-contained.js";
import { type FoundTarget, findTarget } from "./target.js";
import { refuseWindows } from "./windows.js";

/** Everything about a launch that can be told without reading what it covers. */
export interface Resolution {
  /** As written; the variables that keep caches out are added later. */
  readonly launch: Launch;
  readonly executable: FoundProgram;
  readonly followed: Followed;
  readonly target: FoundTarget;
  readonly coverage: CoveragePlan;
  readonly guard: Guard;
  readonly cwd: PathTrace;
  /** Files that belong to the interpreter. */
  readonly beside: readonly WatchedFile[];
}

/**
 * Resolves a launch to the files that would run. Reads names, links and the heads of programs; starts nothing.
 * @throws {AttestationError} every code of resolution; the error carries the launch as soon as it is known.
 */
export function resolveLaunch(terms: LaunchTerms, platform: string): Resolution {
  refuseWindows(terms.command, platform);
  const cwd = tracePath(pathOfText(terms.cwd), {
    missing: "CWD_NOT_FOUND",
    advice: "write a folder that exists in cwd",
  });
  if (cwd.end.kind !== "folder") {
    throw new AttestationError("CWD_NOT_FOUND", `${printable(terms.cwd)} is not a folder`, {
      advice: "write a folder that exists in cwd",
    });
  }
  const executable = findCommand(terms);
  const { args, env } = terms;
  const launch: Launch = { file: executable.path, argv0: terms.command, args, env, cwd: terms.cwd };
  try {
    return { launch, executable, cwd, guard: terms.guard, ...resolveTarget(terms) };
  } catch (error) {
    throw withLaunch(error, launch);
  }
}

function findCommand(terms: LaunchTerms): FoundProgram {
  const noun = { missing: "COMMAND_NOT_FOUND", what: `command ${JSON.stringify(printable(terms.command))}` } as const;
  try {
    return findProgram(terms.command, terms, noun);
  } catch (error) {
    // To install a launcher that is absent would lead to its refusal: what helps is said at once.
    if (isAttestationError(error) && error.code === "COMMAND_NOT_FOUND") {
      refuseLauncher([baseName(terms.command)], terms.args);
    }
    throw error;
  }
}

function resolveTarget(terms: LaunchTerms): Pick<Resolution, "followed" | "target" | "coverage" | "beside"> {
  const { cwd, env, guard } = terms;
  const words: Word[] = [{ text: terms.command, from: "command" }, ...terms.args.map((text, from) => ({ text, from }))];
  const followed = followCommand(words, env, cwd);
  const target = findTarget(followed, terms, cwd);
  const skipsCompiledCode = followed.table?.family === "python" && keepsFromCache(followed, target.scan);
  const coverage = planCoverage({ followed, target, description: terms, cwd, guard, skipsCompiledCode });
  if (guard === "snapshot") refuseIncomplete(followed, target, coverage);
  const { path, trace } = followed.program;
  const beside = target.isProgram ? [] : filesBeside(pathOfText(path), trace.realPath);
  return { followed, target, coverage, beside };
}

/** The same error with what would have been executed, for a caller that only observes. */
export function withLaunch(error: unknown, launch: Launch): unknown {
  if (!isAttestationError(error)) return error;
  const { advice, osCode, cause } = error;
  return new AttestationError(error.code, error.message, { advice, osCode, cause, launch });
}
