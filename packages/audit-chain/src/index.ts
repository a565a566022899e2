export { openChain } from "./append.js";
export { canonicalJson } from "./canonical.js";
export type { Chain, ChainOptions, Durability, RecoveredTail, WaitOptions } from "./chain.js";
export type { Entry, EntryBody, EntryInput, Head, Receipt } from "./entry.js";
export {
  ChainError,
  type ChainErrorCode,
  type ChainErrorDetails,
  isChainError,
  type LockOwner,
  type Place,
} from "./errors.js";
export type { JsonValue } from "./json-value.js";
export { type LogPlace, listLogs } from "./log-list.js";
export { type FolderReport, type InLog, type LogReport, type VerifyLogOptions, verifyLog, verifyLogs } from "./logs.js";
export { type ReadOptions, readChain } from "./read.js";
export { type LoggedEntry, type ReadLogsOptions, readLogs, readToDamage } from "./read-logs.js";
export { recordable } from "./recordable.js";
export type { Finding, Notice, NoticeCode, Problem, ProblemCode, VerifyReport } from "./report.js";
export { openSessionLog, type SessionEntry, type SessionLog, type SessionLogOptions } from "./session-log.js";
