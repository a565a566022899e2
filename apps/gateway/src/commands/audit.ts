import { type LoggedEntry, readLogs, verifyLogs } from "@berth/audit-chain";
import { exitCodes, say } from "@berth/command-line";
import { printNewestEntries, printVerification } from "@berth/command-line/audit";
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

/** Prints the newest entries of all logs, oldest first. Exit code 1 when one could not be read to its end. */
export async function auditTailCommand(options: {
  readonly state: string;
  readonly lines?: string | undefined;
  readonly json?: boolean | undefined;
}): Promise<number> {
  const damaged: string[] = [];
  const entries = entriesOf(options.state, (message) => damaged.push(message));
  await printNewestEntries(entries, { ...options, leading });
  for (const message of damaged) say(`${message}; see berth-gateway audit verify`);
  return damaged.length === 0 ? exitCodes.good : exitCodes.failed;
}

async function* entriesOf(state: string, onDamage: (message: string) => void): AsyncGenerator<LoggedEntry> {
  const { audit } = await findStateFolder(state);
  yield* readLogs(audit, { onDamage });
}
