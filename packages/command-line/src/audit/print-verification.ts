import { type ExitCode, exitCodes } from "../errors.js";
import { printJson, printLine } from "../output.js";

/** What was found of the logs of a folder; `verifyLogs` of @berth/audit-chain gives one. */
export interface FolderVerification {
  readonly ok: boolean;
  readonly entries: number;
  readonly problemCount: number;
  readonly logs: readonly {
    readonly id: string;
    readonly ok: boolean;
    readonly entries: number;
    readonly head: { readonly hash: string } | null;
  }[];
  readonly problems: readonly FoundInLog[];
  readonly notices: readonly FoundInLog[];
}

interface FoundInLog {
  readonly log: string;
  readonly seq: number | null;
  readonly code: string;
  readonly message: string;
}

/** Prints whether the logs of a folder are whole, log by log, and gives the exit code: `failed` when one is not. */
export function printVerification(
  report: FolderVerification,
  { json = false }: { readonly json?: boolean | undefined } = {},
): ExitCode {
  if (json) printJson(report);
  else printForPeople(report);
  return report.ok ? exitCodes.good : exitCodes.failed;
}

function printForPeople({ ok, entries, problemCount, logs, problems, notices }: FolderVerification): void {
  for (const log of logs) {
    const head = log.head?.hash.slice(0, 16) ?? "none";
    printLine(`${log.ok ? "ok     " : "DAMAGED"}  ${log.id}  ${log.entries} entries  head ${head}`);
  }
  for (const { log, seq, code, message } of problems) printLine(`  ${log} entry ${seq}: ${code}  ${message}`);
  for (const { log, seq, code, message } of notices) printLine(`  ${log} entry ${seq}: note ${code}  ${message}`);
  const verdict = ok ? "verified" : `NOT verified: ${problemCount} problems`;
  printLine(`${logs.length} logs, ${entries} entries, ${verdict}`);
}
