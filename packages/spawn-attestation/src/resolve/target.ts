import type { SpawnDescription } from "../description.js";
import { AttestationError } from "../errors.js";
import { pathOfText, printable, relativeTo, toText } from "../measure/byte-path.js";
import { busy } from "../measure/identity.js";
import { type PathTrace, tracePath } from "../measure/trace.js";
import { baseName, type Followed, type Word } from "./follow.js";
import { namedRefusal, refuseLauncher } from "./launchers.js";
import { absolute } from "./lookup.js";
import { type ArgumentScan, type Finding, scanArguments } from "./script-argument.js";

/** The code that the command line runs, or what the caller says instead. */
export interface FoundTarget {
  /** What argv runs; outside argv, what `measureTarget` names. */
  readonly trace: PathTrace;
  /** What `measureTarget` names. */
  readonly named: PathTrace | undefined;
  /** The word that leads to it; absent when it is outside argv. */
  readonly word: Word | undefined;
  /** The program itself is the target: there is no interpreter. */
  readonly isProgram: boolean;
  readonly scan: ArgumentScan;
}

const noOptions: ArgumentScan = { finding: { kind: "missing" }, preloads: [], options: [] };

/**
 * Finds the target in argv, and holds `measureTarget` against it.
 * @throws {AttestationError} each `TARGET_…` code, `CODE_ON_COMMAND_LINE`, `LAUNCHER_WITHOUT_TARGET`.
 */
export function findTarget(followed: Followed, description: SpawnDescription, cwd: string): FoundTarget {
  const named = description.measureTarget;
  const scan = followed.table === undefined ? noOptions : scanArguments(followed.table, texts(followed));
  refuseUntold(followed, scan.finding);
  if (named === undefined) return inArgv(followed, scan, cwd);
  const trace = traceTarget(absolute(named, cwd), true, `measureTarget ${JSON.stringify(printable(named))}`);
  const run = runTarget(followed, scan, cwd, trace);
  if (run !== undefined) return { ...run, named: trace };
  if (description.allowTargetOutsideArgv !== true) throw notRun(followed, scan, named, cwd);
  return { trace, named: trace, word: undefined, isProgram: false, scan };
}

function texts(followed: Followed): readonly string[] {
  return followed.words.map((word) => word.text);
}

/** What can never be measured, whatever the caller says the target is: the code is in argv, or chosen elsewhere. */
function refuseUntold(followed: Followed, finding: Finding): void {
  const name = followed.table?.family ?? "";
  if (finding.kind === "named") throw namedRefusal(name, finding.word);
  if (finding.kind === "code") {
    throw new AttestationError(
      "CODE_ON_COMMAND_LINE",
      `${name} ${printable(finding.word)} runs code from the command line`,
      {
        advice: "write the code to a file and name that file in args",
      },
    );
  }
  if (finding.kind === "remote") {
    throw new AttestationError("TARGET_REMOTE", `${printable(finding.value)} is not a file on this machine`, {
      advice: "download the server and name its file in args",
    });
  }
  if (finding.kind === "missing" && followed.table !== undefined) {
    throw new AttestationError("TARGET_MISSING", `${name} is given no script, so it would read one from its input`, {
      advice: "name the script in args",
    });
  }
}

function inArgv(followed: Followed, scan: ArgumentScan, cwd: string): FoundTarget {
  const found = runTarget(followed, scan, cwd, undefined);
  if (found !== undefined) return found;
  throw scan.finding.kind === "module" ? moduleOnly(followed, scan.finding.value) : ambiguous(scan.finding);
}

/** What argv runs; with `named` only if that is what it runs. */
function runTarget(
  followed: Followed,
  scan: ArgumentScan,
  cwd: string,
  named: PathTrace | undefined,
): FoundTarget | undefined {
  const fits = (trace: PathTrace): boolean =>
    named === undefined ||
    named.realPath === trace.realPath ||
    relativeTo(named.realPath, trace.realPath) !== undefined;
  const at = (word: Word, trace: PathTrace, isProgram: boolean): FoundTarget | undefined =>
    fits(trace) ? { trace, word, isProgram, named: undefined, scan } : undefined;
  if (followed.table !== undefined) {
    if (scan.finding.kind !== "target") return undefined;
    const word = followed.words[scan.finding.index];
    if (word === undefined) return undefined;
    const trace = traceScript(word, followed, cwd);
    refuseLauncher([baseName(toText(trace.realPath))], texts(followed).slice(scan.finding.index + 1));
    return at(word, trace, false);
  }
  if (followed.script !== undefined) return at(followed.script.word, followed.script.program.trace, false);
  const own = at({ ...followed.word, text: followed.program.path }, followed.program.trace, true);
  return own ?? wordThatIs(followed, scan, cwd, fits);
}

/** For a program that nobody knows: the first argument that is the named target. */
function wordThatIs(
  followed: Followed,
  scan: ArgumentScan,
  cwd: string,
  fits: (trace: PathTrace) => boolean,
): FoundTarget | undefined {
  for (const word of followed.words) {
    try {
      const trace = tracePath(pathOfText(absolute(word.text, cwd)), busy);
      if (word.text !== "" && fits(trace)) return { trace, word, isProgram: false, named: undefined, scan };
    } catch {
      // Most arguments are no paths at all; one that cannot be read is not the target that was read a moment ago.
    }
  }
  return undefined;
}

function traceScript(word: Word, followed: Followed, cwd: string): PathTrace {
  const takesFolder = followed.table?.takesFolder === true;
  return traceTarget(absolute(word.text, cwd), takesFolder, JSON.stringify(printable(word.text)));
}

function traceTarget(path: string, takesFolder: boolean, what: string): PathTrace {
  const trace = tracePath(pathOfText(path), {
    missing: "TARGET_NOT_FOUND",
    advice: "write the file as it is on disk, with its ending (index.js, not index), relative to cwd or absolute",
  });
  if (trace.end.kind === "file" || (trace.end.kind === "folder" && takesFolder)) return trace;
  if (trace.end.kind === "folder") {
    throw new AttestationError(
      "TARGET_AMBIGUOUS",
      `${what} is a folder; which file of it runs is found only at the start`,
      {
        advice: "write the file that runs, such as FOLDER/dist/index.js, in args",
      },
    );
  }
  throw new AttestationError("TARGET_NOT_A_FILE", `${what} is a socket, a pipe or a device`, {
    advice: "name a regular file",
  });
}

function moduleOnly(followed: Followed, module: string): AttestationError {
  const name = followed.table?.family ?? "";
  return new AttestationError(
    "TARGET_NOT_IN_ARGV",
    `${name} looks up the module ${printable(module)} itself; argv names no file`,
    {
      advice: `add "measureTarget": the folder of ${printable(module)} and "allowTargetOutsideArgv": true, or run its script file`,
    },
  );
}

function ambiguous(finding: Finding): AttestationError {
  const word = finding.kind === "unknown" || finding.kind === "elsewhere" ? printable(finding.word) : "";
  return new AttestationError("TARGET_AMBIGUOUS", `the option ${word} leaves open which word of args is the script`, {
    advice: `write its value as ${word}=VALUE, or put -- before the script; or leave the option out`,
  });
}

function notRun(followed: Followed, scan: ArgumentScan, named: string, cwd: string): AttestationError {
  const run = runTarget(followed, scan, cwd, undefined);
  const runs = run === undefined ? "" : `; what runs is ${printable(run.word?.text ?? "")}`;
  const message = `measureTarget ${JSON.stringify(printable(named))} is not what the command line runs${runs}`;
  return new AttestationError("TARGET_NOT_IN_ARGV", message, {
    advice: 'measure what runs, or accept weaker evidence with "allowTargetOutsideArgv": true',
  });
}
