export type { EnforcementFinding, EnforcementReport, ProbeOptions } from "./enforcement.js";
export type { ConfinementErrorCode, ConfinementErrorDetails } from "./errors.js";
export { ConfinementError, isConfinementError } from "./errors.js";
export type { Interpreter } from "./find-interpreter.js";
export { findInterpreter } from "./find-interpreter.js";
export { openSandbox } from "./open-sandbox.js";
export type { BoundPath, ConfinementLimits, ConfinementPolicy, NetworkPolicy, Workspace } from "./policy.js";
export type {
  LimitEnforcement,
  Sandbox,
  SandboxExit,
  SandboxIdentity,
  SandboxOptions,
  SandboxPresence,
  SandboxUsage,
} from "./sandbox.js";
