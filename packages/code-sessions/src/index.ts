export { createSessions } from "./create-sessions.js";
export type { SessionEnd, SessionErrorCode, SessionErrorDetails } from "./errors.js";
export { isSessionError, SessionError } from "./errors.js";
export type { CodeFault, Display, Outcome, OutputEvent, OutputText } from "./outcome.js";
export type { ExecuteOptions, FileEntry, Session, SessionFiles, SessionStatus, Variable } from "./session.js";
export type {
  SessionCounts,
  SessionEvent,
  SessionLimits,
  Sessions,
  SessionsOptions,
  StartOptions,
} from "./sessions.js";
