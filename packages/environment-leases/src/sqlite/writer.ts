import type { DatabaseSync } from "node:sqlite";
import type { StoreOwner } from "./owner.js";

/** Writes down who owns the store, for messages to others. The lock, not this row, decides who does. */
export function nameWriter(database: DatabaseSync, owner: StoreOwner): void {
  database.prepare("INSERT OR REPLACE INTO writer (one, owner) VALUES (1, ?)").run(JSON.stringify(owner));
}

/** Takes the name out again. */
export function forgetWriter(database: DatabaseSync): void {
  database.exec("DELETE FROM writer");
}

/** Who says that it owns the store; undefined when nobody does, or when it cannot be read. */
export function readWriter(database: DatabaseSync): StoreOwner | undefined {
  const text = database.prepare("SELECT owner FROM writer").get()?.["owner"];
  return typeof text === "string" ? parseOwner(text) : undefined;
}

function parseOwner(text: string): StoreOwner | undefined {
  let found: { readonly [Name in keyof StoreOwner]?: unknown };
  try {
    found = JSON.parse(text);
  } catch {
    return undefined; // it has no checksum, and a name that is damaged names nobody
  }
  const { pid, startTime, bootId, pidNamespace, host, since } = found;
  if (!Number.isSafeInteger(pid) || typeof pid !== "number" || pid < 1 || typeof host !== "string") return undefined;
  if (typeof since !== "number" || !(Math.abs(since) <= 8.64e15)) return undefined; // what a Date can be
  if (!isTextOrNull(startTime) || !isTextOrNull(bootId) || !isTextOrNull(pidNamespace)) return undefined;
  return { pid, startTime, bootId, pidNamespace, host, since };
}

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === "string";
