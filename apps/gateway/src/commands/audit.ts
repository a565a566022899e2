import { type Entry, verifyLogs } from "@berth/audit-chain";
import { exitCodes, printJson, printJsonLine, printLine, say } from "@berth/command-line";
import { GatewayError } from "../errors.js";
import { logsIn, readableEntries } from "../read-logs.js";
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

/** Lines that are printed at most; with more, the oldest are left out, and that is said. */
const maxLines = 100_000;
/** For a person without `--lines`. A program gets all: one that is given a part without asking takes it for the whole. */
const linesForPeople = 20;

/** Prints the newest entries of all logs, oldest first. Exit code 1 when one could not be read to its end. */
export async function auditTailCommand(options: { state: string; lines?: string; json?: boolean }): Promise<number> {
  const wanted = options.lines ?? (options.json === true ? "all" : String(linesForPeople));
  const count = wanted === "all" ? maxLines : Number(wanted);
  if (!Number.isInteger(count) || count < 1 || count > maxLines) {
    throw new GatewayError("USAGE", `--lines must be 1 to ${maxLines} or all, not ${wanted}`);
  }
  const state = await findStateFolder(options.state);
  let isDamaged = false;
  const { newest, leftOut } = await newestEntries(state.audit, count, (message) => {
    isDamaged = true;
    say(message);
  });
  if (wanted === "all" && leftOut > 0) say(`the oldest ${leftOut} entries are left out: ${maxLines} is the most`);
  for (const { log, entry } of newest) {
    if (options.json === true) printJsonLine({ ...entry, log });
    else printLine(shown(entry));
  }
  return isDamaged ? exitCodes.failed : exitCodes.good;
}

interface LoggedEntry {
  readonly log: string;
  readonly entry: Entry;
}

/** The newest of all logs, by time; entries of one time stay in the order of their log. */
async function newestEntries(
  folder: string,
  count: number,
  onDamage: (message: string) => void,
): Promise<{ readonly newest: readonly LoggedEntry[]; readonly leftOut: number }> {
  let newest: LoggedEntry[] = [];
  let total = 0;
  const cut = (): void => {
    newest = newest.sort((a, b) => compareTexts(a.entry.time, b.entry.time)).slice(-count);
  };
  for (const place of await logsIn(folder)) {
    for await (const entry of readableEntries(place, onDamage)) {
      total += 1;
      // Memory is bounded by what is asked for, however long the logs are.
      if (newest.push({ log: place.id, entry }) >= count * 2) cut();
    }
  }
  cut();
  return { newest, leftOut: total - newest.length };
}

/** Times are RFC 3339 in UTC and of one length, so that their text orders them. */
function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
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
