import { prepareCopy } from "../copy/prepare.js";
import { type CheckFile, emptyCheckFile, maxCheckFileBytes, readCheckFile } from "../files/check-file.js";
import { readInterpreter } from "../files/interpreters.js";
import { readPluginText } from "../files/read-plugin-text.js";
import type { CheckContext } from "./check-context.js";

const defaultPrepareMs = 600_000;

/** A copy that is ready to be measured. */
export interface ReadyCopy {
  readonly file: CheckFile;
  readonly interpreters: readonly string[];
}

/** Reads check.json, runs what fills the copy, and finds the interpreters. Undefined when one of it failed. */
export async function makeReady(context: CheckContext): Promise<ReadyCopy | undefined> {
  const file = await lookAtCheckFile(context);
  if (file === undefined || !(await prepare(context, file))) return undefined;
  const interpreters = await findInterpreters(context, file);
  return interpreters && { file, interpreters };
}

async function lookAtCheckFile({ bench, ledger }: CheckContext): Promise<CheckFile | undefined> {
  const read = await readPluginText(bench.copy, "check.json", maxCheckFileBytes);
  if (read.kind === "absent") return emptyCheckFile;
  const reading = read.kind === "text" ? await readCheckFile(read.text) : undefined;
  if (reading?.ok) return reading.file;
  const unread = read.kind === "unreadable" ? read.why : "";
  const seen = reading === undefined ? unread : reading.problems.join("; ");
  ledger.failed("prepare", seen, "correct check.json: prepare, interpreters and calls are its keys");
  return undefined;
}

async function prepare({ options, bench, ledger }: CheckContext, { prepare: own }: CheckFile): Promise<boolean> {
  const command = options.prepare === false ? undefined : (options.prepare ?? own);
  if (command === undefined || command.length === 0) {
    const leftOut = options.prepare === false && own !== undefined;
    if (leftOut) ledger.skipped("prepare", "the prepare of check.json was left out");
    else ledger.passed("prepare", "there is nothing to prepare");
    return true;
  }
  const words = command.join(" ");
  options.onStep?.(`prepare, with your rights and outside of any sandbox: ${words}`);
  const { onLog = () => {}, signal, prepareTimeoutMs: timeoutMs = defaultPrepareMs } = options;
  const failure = await prepareCopy({
    ...{ command, folder: bench.copy, source: options.folder },
    ...{ timeoutMs, onLog, signal },
  });
  if (failure === undefined) {
    ledger.passed("prepare", words);
    return true;
  }
  const tail = failure.tail.length === 0 ? "" : `: ${failure.tail.join(" | ")}`;
  ledger.failed("prepare", `${failure.why}${tail}`, "run it by hand in a copy of the folder");
  return false;
}

async function findInterpreters(
  { options, bench, ledger }: CheckContext,
  { interpreters }: CheckFile,
): Promise<readonly string[] | undefined> {
  const found = [...(options.interpreters ?? [])];
  for (const written of interpreters) {
    const reading = await readInterpreter(written, bench.copy);
    if ("problem" in reading) {
      const seen = `interpreters of check.json: ${reading.problem}`;
      ledger.failed("prepare", seen, "set it, or let prepare write it");
      return undefined;
    }
    found.push(reading.path);
  }
  return found;
}
