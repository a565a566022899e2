import { exitCodes, printJson, printLine } from "@berth/command-line";
import { type CollectReport, openEnvironmentStore } from "@berth/venv-host";
import { AppError } from "../errors.js";
import { interruptible } from "../serving/interruptible.js";
import { tryFindStateFolder } from "../state-folder.js";
import { inMegabytes, nothingYet } from "./venv-list.js";

/** What the command line says. */
export interface VenvGcFlags {
  readonly state: string;
  readonly unusedDays?: string | undefined;
  readonly maxBytes?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly json?: boolean | undefined;
}

const dayMs = 86_400_000;
const usualDays = 30;
const nothingDone: CollectReport = { removed: [], kept: 0, freedBytes: 0, failed: [] };

/** Removes what nobody holds and is over a bound. Exit code 1 when something should have gone and did not. */
export async function venvGcCommand(flags: VenvGcFlags): Promise<number> {
  const days = wholeNumber("--unused-days", flags.unusedDays, 36_500);
  const maxBytes = wholeNumber("--max-bytes", flags.maxBytes, Number.MAX_SAFE_INTEGER);
  // Without any bound it would remove what was built a minute ago.
  const unusedDays = days ?? (maxBytes === undefined ? usualDays : undefined);
  const state = await tryFindStateFolder(flags.state);
  if (state === undefined) {
    if (flags.json === true) printJson(nothingDone);
    else printLine(nothingYet(flags.state));
    return exitCodes.good;
  }
  return interruptible(async ({ signal }) => {
    await using store = await openEnvironmentStore({ path: state.venvs });
    const unusedMs = unusedDays === undefined ? undefined : unusedDays * dayMs;
    const report = await store.collect({ unusedMs, maxBytes, isTrial: flags.dryRun === true, signal });
    if (flags.json === true) printJson(report);
    else printReport(report, flags.dryRun === true);
    return report.failed.length === 0 ? exitCodes.good : exitCodes.failed;
  });
}

function printReport({ removed, kept, freedBytes, failed }: CollectReport, isTrial: boolean): void {
  const verb = isTrial ? "would go" : "removed";
  for (const { key, bytes, why } of removed) printLine(`${verb}  ${key.slice(0, 16)}  ${inMegabytes(bytes)}  ${why}`);
  for (const { path, why } of failed) printLine(`NOT removed  ${path}: ${why}`);
  printLine(`${removed.length} ${verb}, ${inMegabytes(freedBytes)}; ${kept} kept`);
}

function wholeNumber(name: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/u.test(text) && value <= most) return value;
  throw new AppError("USAGE", `${name} ${text} is no whole number up to ${most}`);
}
