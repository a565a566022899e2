import { type Entry, type FolderReport, verifyLogs } from "@berth/audit-chain";
import { exitCodes, printJson, printJsonLine, printLine, say } from "@berth/command-line";
import { type AskedAbout, findAskedAbout } from "../audit/about-leases.js";
import { type LoggedEntry, readLogs } from "../audit/read-logs.js";
import { ShipyardError } from "../errors.js";
import { findStateFolder } from "../state-folder.js";

/** Checks every log of the state folder. Exit code 1 when one does not verify. */
export async function auditVerifyCommand(options: {
  readonly state: string;
  readonly strict?: boolean | undefined;
  readonly json?: boolean | undefined;
}): Promise<number> {
  const { audit } = await findStateFolder(options.state);
  const report = await verifyLogs(audit, { strict: options.strict });
  if (options.json === true) printJson(report);
  else printReport(report);
  return report.ok ? exitCodes.good : exitCodes.failed;
}

function printReport({ logs, problems, notices, ok, problemCount, entries }: FolderReport): void {
  for (const log of logs) {
    const head = log.head?.hash.slice(0, 16) ?? "none";
    printLine(`${log.ok ? "ok     " : "DAMAGED"}  ${log.id}  ${log.entries} entries  head ${head}`);
  }
  for (const { log, seq, code, message } of problems) printLine(`  ${log} entry ${seq}: ${code}  ${message}`);
  for (const { log, seq, code, message } of notices) printLine(`  ${log} entry ${seq}: note ${code}  ${message}`);
  const verdict = ok ? "verified" : `NOT verified: ${problemCount} problems`;
  printLine(`${logs.length} logs, ${entries} entries, ${verdict}`);
}

/** Lines that are printed at most; with more, the oldest are left out, and that is said. */
const maxLines = 100_000;
/** For a person without `--lines`. A program gets all: one that is given a part without asking takes it for the whole. */
const linesForPeople = 20;

/** Prints the newest entries of all logs, oldest first. Exit code 1 when a log could not be read to its end. */
export async function auditTailCommand(
  options: AskedAbout & {
    readonly state: string;
    readonly lines?: string | undefined;
    readonly json?: boolean | undefined;
  },
): Promise<number> {
  const wanted = options.lines ?? (options.json === true ? "all" : String(linesForPeople));
  const count = wanted === "all" ? maxLines : Number(wanted);
  if (!Number.isInteger(count) || count < 1 || count > maxLines) {
    throw new ShipyardError("USAGE", `--lines must be 1 to ${maxLines} or all, not ${wanted}`);
  }
  const { audit } = await findStateFolder(options.state);
  const damaged: string[] = [];
  const isAbout = await findAskedAbout(
    options,
    readLogs(audit, () => {}),
  );
  const entries = readLogs(audit, (message) => damaged.push(message));
  const { newest, leftOut } = await newestOf(entries, isAbout, count);
  if (wanted === "all" && leftOut > 0) say(`the oldest ${leftOut} entries are left out: ${maxLines} is the most`);
  for (const { log, entry } of newest) {
    if (options.json === true) printJsonLine({ ...entry, log });
    else printLine(shown(entry));
  }
  for (const message of damaged) say(message);
  return damaged.length === 0 ? exitCodes.good : exitCodes.failed;
}

/** The newest of all logs, by time; entries of one time stay in the order of their log. */
async function newestOf(
  entries: AsyncIterable<LoggedEntry>,
  isAbout: (entry: LoggedEntry) => boolean,
  count: number,
): Promise<{ readonly newest: readonly LoggedEntry[]; readonly leftOut: number }> {
  let newest: LoggedEntry[] = [];
  let total = 0;
  const cut = (): void => {
    newest = newest.sort((a, b) => compareTexts(a.entry.time, b.entry.time)).slice(-count);
  };
  for await (const one of entries) {
    if (!isAbout(one)) continue;
    total += 1;
    // Memory is bounded by what is asked for, however long the logs are.
    if (newest.push(one) >= count * 2) cut();
  }
  cut();
  return { newest, leftOut: total - newest.length };
}

/** Times are RFC 3339 in UTC and of one length, so that their text orders them. */
function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Members in the order in which a person reads them; the rest follows. */
const leading = ["owner", "name", "operation", "outcome", "reason", "intent"];
const hidden = new Set(["time", "type", "session", "prev", "hash", "seq", ...leading]);

/** The number comes first: an outcome names its intent by it. */
function shown(entry: Entry): string {
  const rest = Object.keys(entry).filter((key) => !hidden.has(key));
  const members = [...leading, ...rest].flatMap((key) => {
    const value = entry[key];
    return value === undefined
      ? []
      : [`${key}=${typeof value === "string" ? shortened(value) : JSON.stringify(value)}`];
  });
  return [entry.time, `#${entry.seq}`.padEnd(5), entry.type.padEnd(21), ...members].join("  ");
}

/** Digests are cut: whoever needs them whole takes --json. */
function shortened(value: string): string {
  return value.replace(/^sha256:([0-9a-f]{12})[0-9a-f]{52}$/u, "sha256:$1…");
}
