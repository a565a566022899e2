import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ChainError, isChainError } from "./errors.js";
import { type FolderReport, summarize, type VerifyLogOptions, verifyFile, verifyLog, verifyLogs } from "./logs.js";
import { segmentNames } from "./segment-folder.js";
import { systemCode } from "./system-code.js";

/** Where a command writes, and what it says of itself. */
export interface CommandIo {
  out(text: string): void;
  error(text: string): void;
  readonly version: string;
}

const usage = `Usage: berth-audit verify FILE|DIR [--strict] [--json]

Checks audit logs: hashes, links, sequence, times, sessions and calls. DIR is a log's folder or a folder of such;
FILE is one segment, which is checked from wherever in its log it starts.

  --strict     re-check the canonical form of each entry, which also finds duplicate keys
  --json       print {ok, entries, head, problems, notices, logs} as JSON
  --version    print the version
  --help       print this

Examples:
  berth-audit verify ~/.local/state/berth-gateway/audit
  berth-audit verify ./my-log --strict
  berth-audit verify ./my-log/0000000000000001.jsonl --json

Exit status: 0 verified, 1 not verified, 2 wrong usage.
Entries cut off the end of a log are not found: compare the head with one that you kept elsewhere.
`;

/** Runs `berth-audit` and answers its exit status. */
export async function runCommand(argv: readonly string[], io: CommandIo): Promise<number> {
  let parsed: Parsed;
  try {
    parsed = parse(argv);
  } catch (error) {
    return wrongUsage(error instanceof Error ? error.message : String(error), io);
  }
  const { values, positionals } = parsed;
  if (values.help === true || values.version === true) {
    io.out(values.help === true ? usage : `${io.version}\n`);
    return 0;
  }
  const [command, path, ...more] = positionals;
  if (command !== "verify") return wrongUsage(command === undefined ? "no command" : `unknown command ${command}`, io);
  if (path === undefined || more.length > 0) return wrongUsage("verify takes one file or folder", io);
  return verify(path, values, io);
}

interface Parsed {
  readonly values: {
    readonly strict?: boolean;
    readonly json?: boolean;
    readonly help?: boolean;
    readonly version?: boolean;
  };
  readonly positionals: readonly string[];
}

function parse(argv: readonly string[]): Parsed {
  const flag = { type: "boolean" } as const;
  const options = { strict: flag, json: flag, help: flag, version: flag };
  return parseArgs({ args: [...argv], options, allowPositionals: true });
}

function wrongUsage(what: string, io: CommandIo): number {
  io.error(`berth-audit: ${what}\nTry: berth-audit --help\n`);
  return 2;
}

async function verify(path: string, { strict, json }: Parsed["values"], io: CommandIo): Promise<number> {
  let report: FolderReport;
  try {
    report = await verifyPath(resolve(path), { strict });
  } catch (error) {
    if (!isChainError(error)) throw error;
    io.error(`berth-audit: ${error.message}\n`);
    return error.code === "OPTIONS_INVALID" ? 2 : 1;
  }
  io.out(json === true ? `${JSON.stringify(report)}\n` : reportText(report));
  return report.ok ? 0 : 1;
}

async function verifyPath(path: string, options: VerifyLogOptions): Promise<FolderReport> {
  const stats = await stat(path).catch((cause: unknown) => {
    const code = systemCode(cause);
    if (code === "ENOENT") throw new ChainError("OPTIONS_INVALID", `there is no ${path}`, { cause });
    throw new ChainError("READ_FAILED", `${path} cannot be read: ${code}`, { cause });
  });
  if (!stats.isDirectory()) return single(path, await verifyFile(path, options));
  if ((await segmentNames(path)).length > 0) return single(path, await verifyLog(path, options));
  const report = await verifyLogs(path, options);
  if (report.logs.length > 0) return report;
  throw new ChainError(
    "READ_FAILED",
    `there is no log in ${path}: a log is a folder with files like 0000000000000001.jsonl`,
  );
}

const single = (path: string, report: Awaited<ReturnType<typeof verifyLog>>): FolderReport =>
  summarize([{ id: report.logId ?? basename(path), report }]);

function reportText(report: FolderReport): string {
  const problems = byLog(report.problems);
  const notices = byLog(report.notices);
  const lines = report.logs.flatMap(({ id, ok, entries, head }) => [
    `${ok ? "ok  " : "FAIL"}  ${id}  ${entries} entries${head === null ? "" : `, head ${head.sequence} ${head.hash}`}`,
    ...(problems.get(id) ?? []).map((problem) => findingText("problem", problem)),
    ...(notices.get(id) ?? []).map((notice) => findingText("notice", notice)),
  ]);
  const unlisted = report.problemCount + report.noticeCount - report.problems.length - report.notices.length;
  if (unlisted > 0) lines.push(`      and ${unlisted} more`);
  const failed = report.logs.filter(({ ok }) => !ok).length;
  lines.push(
    failed === 0
      ? `verified: ${report.entries} entries in ${report.logs.length} log(s)`
      : `NOT verified: ${failed} of ${report.logs.length} log(s)`,
  );
  return `${lines.join("\n")}\n`;
}

function byLog<Found extends { readonly log: string }>(findings: readonly Found[]): ReadonlyMap<string, Found[]> {
  const logs = new Map<string, Found[]>();
  for (const finding of findings) {
    const known = logs.get(finding.log);
    if (known === undefined) logs.set(finding.log, [finding]);
    else known.push(finding);
  }
  return logs;
}

type Finding = FolderReport["problems"][number] | FolderReport["notices"][number];

function findingText(kind: "problem" | "notice", { code, seq, segment, offset, message }: Finding): string {
  return `      ${kind}  ${code}  entry ${seq}  ${segment} byte ${offset}: ${message}`;
}
