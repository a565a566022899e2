import { type LoggedEntry, readLogs, verifyLogs } from "@berth/audit-chain";
import { exitCodes, printLine, say } from "@berth/command-line";
import { printNewestEntries, printVerification } from "@berth/command-line/audit";
import { tryFindStateFolder } from "../state-folder.js";

/** Checks every log of the state folder. Exit code 1 when one does not verify. */
export async function auditVerifyCommand(options: {
  readonly state: string;
  readonly strict?: boolean | undefined;
  readonly json?: boolean | undefined;
}): Promise<number> {
  const state = await tryFindStateFolder(options.state);
  if (state === undefined) return nothingYet(options);
  return printVerification(await verifyLogs(state.audit, { strict: options.strict }), options);
}

function nothingYet({ state, json }: { readonly state: string; readonly json?: boolean | undefined }): number {
  if (json === true)
    return printVerification({ ok: true, entries: 0, problemCount: 0, logs: [], problems: [], notices: [] }, { json });
  printLine(`no logs: nothing has run with the state folder ${state} yet`);
  return exitCodes.good;
}

const leading = [
  "plugin",
  "hook",
  "method",
  "tool",
  "prompt",
  "resource",
  "template",
  "status",
  "outcome",
  "code",
  "reason",
  "principal",
  "door",
];

/** Prints the newest entries of all logs, or of one plugin's, oldest first. Exit code 1 when a log could not be read to its end. */
export async function auditTailCommand(options: {
  readonly state: string;
  readonly plugin?: string | undefined;
  readonly lines?: string | undefined;
  readonly json?: boolean | undefined;
}): Promise<number> {
  const state = await tryFindStateFolder(options.state);
  const damaged: string[] = [];
  const all = state === undefined ? none() : readLogs(state.audit, { onDamage: (message) => damaged.push(message) });
  const { plugin, lines, json } = options;
  await printNewestEntries(plugin === undefined ? all : ofPlugin(all, plugin), { lines, json, leading });
  for (const message of damaged) say(`${message}; see berth-plugin-host audit verify`);
  return damaged.length === 0 ? exitCodes.good : exitCodes.failed;
}

async function* none(): AsyncGenerator<LoggedEntry> {}

async function* ofPlugin(entries: AsyncIterable<LoggedEntry>, plugin: string): AsyncGenerator<LoggedEntry> {
  for await (const one of entries) if (one.entry["plugin"] === plugin) yield one;
}
