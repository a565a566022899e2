import { CommandError, exitCodes } from "../errors.js";
import { printJsonLine, printLine, say } from "../output.js";

/** An entry of a log, as @berth/audit-chain reads it. */
export interface PrintedEntry {
  readonly seq: number;
  /** RFC 3339, in UTC, all of one length. */
  readonly time: string;
  readonly type: string;
  readonly [member: string]: unknown;
}

/** One of them, and the id of its log. */
export interface ShownEntry {
  readonly log: string;
  readonly entry: PrintedEntry;
}

/** How entries are shown. */
export interface PrintEntriesOptions {
  /** `--lines`: 1 to 100_000, or `all`. Default 20, and `all` with `json`: a program that is given a part without asking takes it for the whole. */
  readonly lines?: string | undefined;
  /** Each whole, as JSON on a line. Otherwise digests are cut. */
  readonly json?: boolean | undefined;
  /** Members in the order in which a person reads them; the others follow. */
  readonly leading?: readonly string[] | undefined;
  /** Members that no person reads. `prev`, `hash` and `session` are among them always. */
  readonly hidden?: readonly string[] | undefined;
}

/** Lines that are printed at most; with more, the oldest are left out, and that is said. */
const maxLines = 100_000;
const linesForPeople = 20;

/**
 * Prints the newest entries of some logs, oldest first. Holds about twice as many as it prints, however long the logs are.
 * @throws {CommandError} `USAGE`, before anything is read.
 */
export async function printNewestEntries(
  entries: AsyncIterable<ShownEntry>,
  { lines, json = false, leading = [], hidden = [] }: PrintEntriesOptions = {},
): Promise<void> {
  const wanted = lines ?? (json ? "all" : String(linesForPeople));
  const { newest, leftOut } = await newestOf(entries, countOf(wanted));
  if (wanted === "all" && leftOut > 0) say(`the oldest ${leftOut} entries are left out: ${maxLines} is the most`);
  const left = new Set(["seq", "time", "type", "session", "prev", "hash", ...hidden]);
  for (const { log, entry } of newest) {
    if (json) printJsonLine({ ...entry, log });
    else printLine(shown(entry, leading, left));
  }
}

function countOf(wanted: string): number {
  const count = wanted === "all" ? maxLines : Number(wanted);
  if (Number.isInteger(count) && count >= 1 && count <= maxLines) return count;
  throw new CommandError("USAGE", exitCodes.usage, `--lines must be 1 to ${maxLines} or all, not ${wanted}`);
}

/** The newest of all logs, by time; entries of one time stay in the order of their log. */
async function newestOf(
  entries: AsyncIterable<ShownEntry>,
  count: number,
): Promise<{ readonly newest: readonly ShownEntry[]; readonly leftOut: number }> {
  let newest: ShownEntry[] = [];
  let total = 0;
  const cut = (): void => {
    newest = newest.sort((a, b) => compareTexts(a.entry.time, b.entry.time)).slice(-count);
  };
  for await (const one of entries) {
    total += 1;
    if (newest.push(one) >= count * 2) cut();
  }
  cut();
  return { newest, leftOut: total - newest.length };
}

/** Times of one length are ordered by their text. */
function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The number stands with the time: an outcome names its intent by it. */
function shown(entry: PrintedEntry, leading: readonly string[], hidden: ReadonlySet<string>): string {
  const rest = Object.keys(entry).filter((key) => !hidden.has(key) && !leading.includes(key));
  const members = [...leading, ...rest].flatMap((key) => {
    const value = entry[key];
    return value === undefined ? [] : [`${key}=${typeof value === "string" ? plain(value) : JSON.stringify(value)}`];
  });
  return [entry.time, `#${entry.seq}`.padEnd(5), entry.type.padEnd(21), ...members].join("  ");
}

/** What others wrote must not look like one more member. Whoever needs digests whole takes JSON. */
function plain(value: string): string {
  if (value === "" || /[\s"=]/u.test(value)) return `"${value.replace(/["\\]/gu, "\\$&")}"`;
  return value.replace(/^(sha256|tree-v1):([0-9a-f]{12})[0-9a-f]{52}$/u, "$1:$2…");
}
