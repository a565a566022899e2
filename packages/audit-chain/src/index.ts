export { openChain } from "./append.js";
export { canonicalJson } from "./canonical.js";
export type { Chain, ChainOptions, Durability, RecoveredTail, WaitOptions } from "./chain.js";
export type { Entry, EntryInput, Head, Receipt } from "./entry.js";
export { ChainError, type ChainErrorCode, isChainError, type LockOwner, type Place } from "./errors.js";
export type { JsonValue } from "./json-value.js";
export {
  type FolderReport,
  type LogPlace,
  type LogReport,
  listLogs,
  type VerifyLogOptions,
  verifyLog,
  verifyLogs,
} from "./logs.js";
export { type ReadOptions, readChain } from "./read.js";
export type { Notice, NoticeCode, Problem, ProblemCode, VerifyReport } from "./report.js";
