export type { ConfinementErrorCode, ConfinementErrorDetails } from "../errors.js";
export { ConfinementError, isConfinementError } from "../errors.js";
export { escapeAttempts } from "./attempt-list.js";
export type {
  EscapeAnswer,
  EscapeAttempt,
  EscapeCommand,
  EscapeControl,
  EscapeLaunch,
  EscapeLimits,
  EscapeOptions,
  EscapeProcess,
  EscapeReport,
  EscapeResult,
  EscapeWrap,
} from "./escapes.js";
export { runEscapes } from "./run-escapes.js";
