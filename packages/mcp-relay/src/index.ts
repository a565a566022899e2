export type {
  EvidenceClass,
  ExitReport,
  OpenUpstream,
  UpstreamConnection,
  UpstreamEvidence,
  UpstreamRefusal,
} from "./connection.js";
export { describeDefinitionChange, describeTextChange } from "./describe-change.js";
export {
  canonicalDefinition,
  compareDefinitions,
  type Definition,
  type DefinitionChange,
  definitionDigest,
  type NameMember,
  readDefinition,
} from "./drift.js";
export { isRelayError, RelayError, type RelayErrorCode } from "./errors.js";
export { exposedName, type NameStyle } from "./names.js";
export type {
  CallIntent,
  CallOutcome,
  CallRefused,
  CallStatus,
  CallSubject,
  ChildExit,
  DriftChange,
  DriftKind,
  DriftSeen,
  RelayEvent,
} from "./relay-event.js";
export type {
  RelayLimits,
  RelayNotice,
  RelayOptions,
  RelaySession,
  UpstreamFault,
  UpstreamStatus,
} from "./relay-options.js";
export type {
  BadLinePolicy,
  PinnedDefinition,
  PinnedDefinitions,
  PinnedInitialize,
  ServerPolicy,
  ServerWaits,
  ToolPolicy,
} from "./server-policy.js";
export { type BlockedReason, type GoneReason, relayErrors } from "./wire-errors.js";
