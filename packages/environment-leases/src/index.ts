export type { BubblewrapProviderOptions } from "./bubblewrap-provider.js";
export { createBubblewrapProvider } from "./bubblewrap-provider.js";
export type { RuntimeCapabilities, UnsupportedCombination } from "./capabilities.js";
export type {
  ApprovedWheel,
  CommandOptions,
  CommandResult,
  DisposableEnvironment,
  EnvironmentEnd,
  GuestExit,
  GuestProcess,
  GuestProcessOptions,
  HeldLimit,
  InstallOptions,
  ResourceRequest,
  ResourceResponse,
  TerminalChannel,
} from "./environment.js";
export type { FieldFault, LeaseErrorCode, LeaseErrorDetails } from "./errors.js";
export { isLeaseError, LeaseError } from "./errors.js";
export type { GuestLimits } from "./guest/guest-limits.js";
export type { LeaseEndReason, LeaseRecord, LeaseState } from "./lease.js";
export type { LeaseEvent, LeaseOperation } from "./lease-event.js";
export type { AcquireOptions, Lease, WarmLease, WarmOptions } from "./lease-handle.js";
export { createLeases } from "./leases.js";
export type {
  LeaseLimits,
  Leases,
  LeasesOptions,
  ProfileStatus,
  RecoveryResult,
  SweepResult,
} from "./leases-contract.js";
export { createMemoryLeaseStore } from "./memory-store.js";
export type {
  EnvironmentPipeline,
  EnvironmentPipelineOptions,
  PipelineProvider,
  PipelineResult,
  PipelineWork,
} from "./pipeline.js";
export { createEnvironmentPipeline } from "./pipeline.js";
export type { EnvironmentLimits, NetworkMode, PackageMode, ResourcePolicy, ResourceTerms } from "./policy.js";
export type { EnvironmentProfile, ProfileMount, ProfileTerms } from "./profile.js";
export type { CreateOptions, ManagedProvider, WorkerName } from "./provider.js";
export { readPolicy } from "./reading/read-policy.js";
export { readProfile } from "./reading/read-profile.js";
export type { RequireOptions } from "./require-capabilities.js";
export { requireCapabilities } from "./require-capabilities.js";
export type { Scheduler } from "./scheduler.js";
export { systemScheduler } from "./scheduler.js";
export type { LeaseChange, LeaseFilter, LeaseStore } from "./store.js";
export type { UnconfinedProviderOptions } from "./unconfined-provider.js";
export { createUnconfinedProvider } from "./unconfined-provider.js";
