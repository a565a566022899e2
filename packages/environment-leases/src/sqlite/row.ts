import { createHash } from "node:crypto";
import type { SQLOutputValue } from "node:sqlite";
import type { LeaseRecord } from "../lease.js";
import { damaged } from "./failures.js";

type Values = readonly [
  id: string,
  worker: string,
  owner: string | null,
  state: string,
  endedAt: number | null,
  record: string,
];

/** Columns in the order of `rowValues`. */
export const rowColumns = "id, worker, owner, state, ended_at, record, checksum";

/** What is written for a lease, in the order of `rowColumns`. */
export function rowValues(record: LeaseRecord): [...Values, checksum: string] {
  const { id, worker, state, endedAt } = record;
  const values: Values = [id, worker, ownerKey(record.owner), state, endedAt ?? null, JSON.stringify(record)];
  return [...values, checksumOf(values)];
}

/** An owner as the column holds it: JSON, because TEXT would cut a name at NUL and make two owners one. */
export function ownerKey(owner: string | undefined): string | null {
  return owner === undefined ? null : JSON.stringify(owner);
}

/**
 * Reads a row back.
 * @throws {LeaseError} `STORE_DAMAGED` when anything of it is not as it was written.
 */
export function readRow(columns: Readonly<Record<string, SQLOutputValue>>, path: string): LeaseRecord {
  const { id, worker, owner, state, ended_at: endedAt, record, checksum } = columns;
  const isWhole =
    typeof id === "string" &&
    typeof worker === "string" &&
    (typeof owner === "string" || owner === null) &&
    typeof state === "string" &&
    (typeof endedAt === "number" || endedAt === null) &&
    typeof record === "string" &&
    checksumOf([id, worker, owner, state, endedAt, record]) === checksum;
  if (!isWhole) throw damaged(path, `the row of lease ${String(id).slice(0, 64)} does not match its checksum`);
  return parseRecord(record);
}

/** The checksum says that it is what `rowValues` wrote, so its members need no second look. */
function parseRecord(text: string): LeaseRecord {
  const found: LeaseRecord = JSON.parse(text);
  // JSON leaves out what is undefined.
  const { owner, idleMs, endReason, endedAt, lastError, labels } = found;
  return Object.freeze({ ...found, owner, idleMs, endReason, endedAt, lastError, labels: Object.freeze(labels) });
}

function checksumOf(values: Values): string {
  return createHash("sha256").update(JSON.stringify(values)).digest("hex");
}
