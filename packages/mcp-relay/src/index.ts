export type {
  Catalog,
  CatalogServer,
  InterpreterPin,
  NetworkServer,
  PinnedFile,
  ServerLimits,
  SpawnBlock,
  StdioServer,
} from "./catalog.js";
export { addServers, emptyCatalog, type ServerPins, writePins } from "./catalog-edit.js";
export {
  type EnvironmentProblem,
  type EnvironmentSource,
  type ResolvedEnvironment,
  resolveEnvironment,
} from "./catalog-env.js";
export { type CatalogProblem, type CatalogReading, readCatalog } from "./catalog-read.js";
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
export { importClientConfig } from "./import/import.js";
export type { ClientForm, ImportedServer, ImportNote, ImportNoteCode, ImportReport } from "./import/report.js";
export { catalogName } from "./import/server-name.js";
export { type InspectOptions, inspectServer, type ServerInspection } from "./inspect.js";
export type {
  CallInterception,
  InterceptedCall,
  InterceptedMethod,
  InterceptedRequest,
  InterceptionRefusal,
  InterceptionWait,
  Interceptor,
  RequestVerdict,
  ResultVerdict,
} from "./interception.js";
export { exposedName, type NameStyle } from "./names.js";
export type {
  CallCancelled,
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
export { createRelaySession } from "./session/relay-session.js";
export { compileTemplate, type TemplateMatcher } from "./uri-template.js";
export { visibleText } from "./visible-text.js";
export {
  type AskedReason,
  type BlockedReason,
  type DeniedReason,
  type FaultSubject,
  type GoneReason,
  type OwnReason,
  relayErrors,
} from "./wire-errors.js";
