export { openSqliteLeaseStore } from "./sqlite/open.js";
export type { SqliteStoreOptions } from "./sqlite/options.js";
export type { StoreOwner } from "./sqlite/owner.js";
export type { SqliteLeases } from "./sqlite/read.js";
export { readSqliteLeases } from "./sqlite/read.js";
