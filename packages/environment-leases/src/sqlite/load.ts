import { LeaseError } from "../errors.js";

/** The part of Node that this entry is made of. Type only: a static import would print a warning before our code runs. */
export type Sqlite = typeof import("node:sqlite");

/**
 * Loads node:sqlite, without the warning that Node 22 prints.
 * @throws {LeaseError} `SQLITE_UNAVAILABLE`, naming the versions that have it.
 */
export function loadSqlite(): Sqlite {
  const loaded = withoutWarning(() => process.getBuiltinModule?.("node:sqlite"));
  if (loaded !== undefined) return loaded;
  const message = `node:sqlite is absent from Node ${process.versions.node}; it is part of 22.13 and later, 24 and 26`;
  throw new LeaseError("SQLITE_UNAVAILABLE", message, { cure: "run Node 22.18 or later, 24.11 or later, or 26" });
}

/** Synchronous, so that no other warning of the process can come in between and nothing is left wrapped. */
function withoutWarning<T>(load: () => T): T {
  const emit = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: readonly unknown[]): void => {
    if (isAboutSqlite(warning)) return;
    Reflect.apply(emit, process, [warning, ...rest]);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emit;
  }
}

function isAboutSqlite(warning: string | Error): boolean {
  return String(warning).includes("SQLite is an experimental feature");
}
