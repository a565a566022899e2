import { type LoggedEntry, readLogs, verifyLogs } from "@berth/audit-chain";
import { exitCodes, say } from "@berth/command-line";
import { printNewestEntries, printVerification } from "@berth/command-line/audit";
import { type AskedAbout, findAskedAbout } from "../audit/about-leases.js";
import { findStateFolder } from "../state-folder.js";

/** Checks every log of the state folder. Exit code 1 when one does not verify. */
export async function auditVerifyCommand(options: {
  readonly state: string;
  readonly strict?: boolean | undefined;
  readonly json?: boolean | undefined;
}): Promise<number> {
  const { audit } = await findStateFolder(options.state);
  return printVerification(await verifyLogs(audit, { strict: options.strict }), options);
}

const leading = ["owner", "name", "operation", "outcome", "reason", "intent"];

/** Prints the newest entries of all logs, oldest first. Exit code 1 when a log could not be read to its end. */
export async function auditTailCommand(
  options: AskedAbout & {
    readonly state: string;
    readonly lines?: string | undefined;
    readonly json?: boolean | undefined;
  },
): Promise<number> {
  const damaged: string[] = [];
  const entries = entriesOf(options, (message) => damaged.push(message));
  await printNewestEntries(entries, { lines: options.lines, json: options.json, leading });
  for (const message of damaged) say(`${message}; see berth-shipyard audit verify`);
  return damaged.length === 0 ? exitCodes.good : exitCodes.failed;
}

async function* entriesOf(
  asked: AskedAbout & { readonly state: string },
  onDamage: (message: string) => void,
): AsyncGenerator<LoggedEntry> {
  const { audit } = await findStateFolder(asked.state);
  const isAbout = await findAskedAbout(asked, readLogs(audit));
  for await (const one of readLogs(audit, { onDamage })) if (isAbout(one)) yield one;
}
