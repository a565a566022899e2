import { exitCodes, printJson, printLine, say } from "@berth/command-line";
import { type CheckFinding, type CheckReport, checkPlugin, isProcessPluginError } from "@berth/process-plugins/check";
import { AppError } from "../errors.js";
import { interruptible } from "../serving/interruptible.js";

/** What the command line says. */
export interface CheckFlags {
  /** A command and its arguments, separated by spaces. */
  readonly prepare?: string | boolean | undefined;
  readonly record?: boolean | undefined;
  readonly escapes?: boolean | undefined;
  readonly interpreter?: readonly string[] | undefined;
  readonly allowUnconfined?: boolean | undefined;
  readonly verbose?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Checks a process plugin in a temporary copy. Exit code 1 when something does not hold. */
export async function checkCommand(folder: string, flags: CheckFlags): Promise<number> {
  return interruptible(async ({ signal }) => {
    const report = await checkPlugin({
      folder,
      prepare: readPrepare(flags.prepare),
      record: flags.record,
      escapes: flags.escapes,
      interpreters: flags.interpreter,
      allowUnconfined: flags.allowUnconfined,
      onStep: (step) => say(step),
      ...(flags.verbose === true ? { onLog: ({ level, text }) => say(`  ${level} ${text}`) } : {}),
      signal,
    }).catch(ofCheck);
    if (flags.json === true) printJson(report);
    else show(report);
    return report.ok ? exitCodes.good : exitCodes.failed;
  });
}

/** No shell reads it: who needs one names it, as in `sh prepare.sh`. */
function readPrepare(given: string | boolean | undefined): readonly string[] | false | undefined {
  if (given === false) return false;
  if (given === undefined || given === true) return undefined;
  const words = given.split(/\s+/u).filter((word) => word !== "");
  if (words.length === 0) throw new AppError("USAGE", "--prepare names no command");
  return words;
}

function ofCheck(error: unknown): never {
  if (isProcessPluginError(error) && error.code === "OPTION_INVALID") throw new AppError("USAGE", error.message);
  throw error;
}

const marks = { passed: "ok     ", failed: "FAILED ", skipped: "skipped" } as const;

function show({ ok, plugin, digest, findings, recorded }: CheckReport): void {
  for (const finding of findings) showFinding(finding);
  if (digest !== undefined) printLine(`digest  ${digest}`);
  if (recorded !== undefined) printLine(`wrote   ${recorded}`);
  const failed = findings.filter(({ outcome }) => outcome === "failed").length;
  const skipped = findings.filter(({ outcome }) => outcome === "skipped").length;
  const left = skipped === 0 ? "" : `, ${skipped} skipped`;
  printLine(`${plugin ?? "the plugin"} ${ok ? "passes" : `FAILS: ${failed} of ${findings.length} findings`}${left}`);
}

function showFinding({ name, outcome, seen, advice, difference, controls = [] }: CheckFinding): void {
  printLine(`${marks[outcome]} ${name}: ${seen}`);
  if (difference !== undefined) {
    printLine(`        line ${difference.line}`);
    printLine(`        expected ${difference.expected ?? "nothing more"}`);
    printLine(`        received ${difference.received ?? "nothing more"}`);
  }
  if (outcome !== "failed") return;
  for (const control of controls.filter(({ held }) => !held))
    printLine(`        control ${control.name}: ${control.seen}`);
  if (advice !== undefined) printLine(`        ${advice}`);
}
