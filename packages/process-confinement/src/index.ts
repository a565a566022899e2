export type { FolderUsage, MeasureBounds, MeasureOptions } from "./disk-watch/measure-folder.js";
export { measureFolder } from "./disk-watch/measure-folder.js";
export type { EnforcementFinding, EnforcementReport, ProbeOptions } from "./enforcement.js";
export type { ConfinementErrorCode, ConfinementErrorDetails } from "./errors.js";
export { ConfinementError, isConfinementError } from "./errors.js";
export { sweepControlGroups } from "./limits/sweep-groups.js";
export { openSandbox } from "./open-sandbox.js";
export { egressPort, egressSocketPath } from "./plan/forwarder.js";
export type { BoundPath, ConfinementLimits, ConfinementPolicy, NetworkPolicy, Workspace } from "./policy.js";
export type { PreparedSandboxes, PreparedSandboxesOptions, PreparedStart } from "./prepared-sandboxes.js";
export { createPreparedSandboxes } from "./prepared-sandboxes.js";
export type { EndSandboxOptions } from "./presence.js";
export { endSandbox, findSandbox } from "./presence.js";
export { probe } from "./probe/probe.js";
export type { SelfTestOptions } from "./probe/self-test.js";
export { selfTest } from "./probe/self-test.js";
export type { Interpreter } from "./program/find-interpreter.js";
export { findInterpreter } from "./program/find-interpreter.js";
export { limitNames, limitRanges } from "./reading/read-limits.js";
export type {
  LimitEnforcement,
  Sandbox,
  SandboxExit,
  SandboxGate,
  SandboxIdentity,
  SandboxOptions,
  SandboxPresence,
  SandboxUsage,
} from "./sandbox.js";
export type { SandboxStarter } from "./sandbox-starter.js";
export { createSandboxStarter } from "./sandbox-starter.js";
