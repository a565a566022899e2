import { type Entry, listLogs, readChain, verifyLogs } from "@berth/audit-chain";
import { exitCodes, GatewayError } from "../errors.js";
import { printJson, printLine } from "../output.js";
import { findStateFolder } from "../state-folder.js";

/** Checks every log of the state folder. Exit code 1 when one does not verify. */
export async function auditVerifyCommand(options: {
  state: string;
  strict?: boolean;
  json?: boolean;
}): Promise<number> {
  const state = await findStateFolder(options.state);
  const report = await verifyLogs(state.audit, { strict: options.strict });
  if (options.json === true) printJson(report);
  else {
    for (const log of report.logs) {
      printLine(
        `${log.ok ? "ok      " : "DAMAGED "} ${log.id}  ${log.entries} entries  head ${log.head?.hash.slice(0, 16) ?? "none"}`,
      );
    }
    for (const { log, seq, code, message } of report.problems) printLine(`  ${log} entry ${seq}: ${code}  ${message}`);
    for (const { log, seq, code, message } of report.notices)
      printLine(`  ${log} entry ${seq}: note ${code}  ${message}`);
    const verdict = report.ok ? "verified" : `NOT verified: ${report.problemCount} problems`;
    printLine(`${report.logs.length} logs, ${report.entries} entries, ${verdict}`);
  }
  return report.ok ? exitCodes.good : exitCodes.failed;
}

/** Prints the newest entries of all logs, oldest first. */
export async function auditTailCommand(options: { state: string; lines: string; json?: boolean }): Promise<number> {
  const count = Number(options.lines);
  if (!Number.isInteger(count) || count < 1 || count > 100_000) {
    throw new GatewayError("USAGE", `--lines must be 1 to 100000, not ${options.lines}`);
  }
  const state = await findStateFolder(options.state);
  const newest: { readonly log: string; readonly entry: Entry }[] = [];
  for (const log of await listLogs(state.audit)) {
    for (const entry of await lastEntries(log.directory, count)) newest.push({ log: log.id, entry });
  }
  newest.sort((a, b) => a.entry.time.localeCompare(b.entry.time));
  for (const { log, entry } of newest.slice(-count))
    printLine(options.json === true ? JSON.stringify({ ...entry, log }) : shown(entry));
  return exitCodes.good;
}

async function lastEntries(directory: string, count: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of readChain(directory)) {
    entries.push(entry);
    if (entries.length > count * 2) entries.splice(0, entries.length - count);
  }
  return entries.slice(-count);
}

/** Members in the order in which a person reads them; the rest follows. */
const leading = [
  "server",
  "method",
  "tool",
  "evidence",
  "status",
  "reason",
  "durationMs",
  "requestBytes",
  "responseBytes",
];
const hidden = new Set(["seq", "time", "type", "session", "prev", "hash", ...leading]);

function shown(entry: Entry): string {
  const rest = Object.keys(entry).filter((key) => !hidden.has(key));
  const members = [...leading, ...rest].flatMap((key) => {
    const value = entry[key];
    return value === undefined
      ? []
      : [`${key}=${typeof value === "string" ? shortened(value) : JSON.stringify(value)}`];
  });
  return [entry.time, entry.type.padEnd(13), ...members].join("  ");
}

/** Digests are cut: whoever needs them whole takes --json. */
function shortened(value: string): string {
  return value.replace(/^(sha256|tree-v1):([0-9a-f]{12})[0-9a-f]{52}$/u, "$1:$2…");
}
