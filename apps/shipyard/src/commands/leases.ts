import { exitCodes, printJson, printLine, say } from "@berth/command-line";
import type { LeaseRecord } from "@berth/environment-leases";
import { isLeaseError } from "@berth/environment-leases";
import { readSqliteLeases, type SqliteLeases } from "@berth/environment-leases/sqlite";
import { askServer, isServerRunning } from "../control/control-client.js";
import type { ControlAnswer, ControlRequest } from "../control/control-protocol.js";
import { obeyOffline } from "../control/obey-offline.js";
import { ShipyardError } from "../errors.js";
import { configuredName } from "../profiles/profiles.js";
import { findStateFolder, type StateFolder } from "../state-folder.js";

/** What the command line says. */
export interface LeasesOptions {
  readonly state: string;
  readonly json?: boolean | undefined;
}

/** Lists what the store holds now, whether a server runs or not. Without `all`, what has not ended. */
export async function leasesListCommand(options: LeasesOptions & { readonly all?: boolean }): Promise<number> {
  const state = await findStateFolder(options.state);
  const found = await readLeases(state);
  const leases = found.leases.filter(({ endedAt }) => options.all === true || endedAt === undefined);
  if (options.json === true) {
    const writer = (await isServerRunning(state)) ? (found.owner?.pid ?? null) : null;
    printJson({ state: state.path, writer, leases: leases.map(withNulls) });
    return exitCodes.good;
  }
  printTable(leases);
  if (leases.some(({ endedAt }) => endedAt === undefined) && !(await isServerRunning(state))) {
    say("no server runs: rows that have not ended are what the last one left, and their sandboxes ended with it");
    say("the next `berth-shipyard serve` closes them, and so does `berth-shipyard leases sweep`");
  }
  return exitCodes.good;
}

/** Every lease with every member, so that programs need not ask which are there. */
function withNulls(lease: LeaseRecord): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(lease).map(([name, value]) => [name, value ?? null]));
}

async function readLeases(state: StateFolder): Promise<SqliteLeases> {
  try {
    return (await readSqliteLeases(state.leases)) ?? { leases: [], owner: undefined };
  } catch (error) {
    if (!isLeaseError(error)) throw error;
    const lines = error.cure === undefined ? [] : [error.cure];
    throw new ShipyardError("STATE_UNUSABLE", error.message, { cause: error.cause, lines });
  }
}

/** Ends leases, by the running server or in its place. Exit code 1 when an end could not be confirmed. */
export async function leasesReleaseCommand(ids: readonly string[], options: LeasesOptions): Promise<number> {
  const state = await findStateFolder(options.state);
  const results: Readonly<Record<string, unknown>>[] = [];
  for (const id of ids) results.push(resultOf(await order(state, { op: "release", id }), id));
  if (options.json === true) printJson({ released: results });
  else for (const { id, state: reached } of results) printLine(`${id}  ${reached}`);
  const isUnconfirmed = results.some(({ state: reached }) => reached !== "released" && reached !== "lost");
  if (!isUnconfirmed) return exitCodes.good;
  throw new ShipyardError("CLEANUP_UNCONFIRMED", "a sandbox may still be there; its end is tried again", {
    lines: ["`berth-shipyard leases list` shows what is left"],
  });
}

/** Ends what is due and retries what could not be confirmed. Without a server, all that servers have left. */
export async function leasesSweepCommand(options: LeasesOptions): Promise<number> {
  const state = await findStateFolder(options.state);
  const result = resultOf(await order(state, { op: "sweep" }), "");
  if (options.json === true) printJson(result);
  else for (const [name, count] of Object.entries(result)) printLine(`${name.padEnd(12)} ${count}`);
  return result["unconfirmed"] === 0 ? exitCodes.good : exitCodes.failed;
}

async function order(state: StateFolder, request: ControlRequest): Promise<ControlAnswer> {
  return (await askServer(state, request)) ?? (await obeyOffline(state, request));
}

function resultOf(answer: ControlAnswer, id: string): Readonly<Record<string, unknown>> {
  if (answer.ok) return answer.result;
  if (answer.code === "LEASE_NOT_FOUND")
    throw new ShipyardError("LEASE_NOT_FOUND", `there is no lease ${id}`, { lines: [seeList] });
  if (answer.code === "CLEANUP_UNCONFIRMED") return { id, state: "releasing" };
  throw new ShipyardError("CONTROL_FAILED", answer.message);
}

const seeList = "`berth-shipyard leases list --all` shows those that there are, and those that have ended";

const columns = ["lease", "state", "owner", "session", "profile", "provider", "until", "reason"] as const;

function printTable(leases: readonly LeaseRecord[]): void {
  if (leases.length === 0) {
    printLine("no leases");
    return;
  }
  const rows = leases.map((lease) => [
    lease.id,
    lease.state,
    lease.owner ?? "(warm)",
    lease.labels["session"] ?? "",
    configuredName(lease.profile),
    lease.provider,
    new Date(lease.endedAt ?? lease.expiresAt).toISOString(),
    lease.endReason ?? "",
  ]);
  const widths = columns.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  for (const row of [columns, ...rows]) {
    printLine(
      row
        .map((cell, at) => cell.padEnd(Math.min(widths[at] ?? 0, 60)))
        .join("  ")
        .trimEnd(),
    );
  }
}
