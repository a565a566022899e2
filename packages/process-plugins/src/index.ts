export type { ProcessPluginErrorCode, ProcessPluginErrorDetails } from "./errors.js";
export { isProcessPluginError, ProcessPluginError } from "./errors.js";
export type {
  InstanceEnd,
  InstanceOptions,
  InstanceState,
  PluginInstance,
  PluginLimits,
  PluginLogLine,
  PluginTimeouts,
  WaitOptions,
} from "./instance/instance.js";
export { openInstance } from "./instance/open-instance.js";
export type { PluginEvent } from "./instance/plugin-event.js";
export type { ProcessEntryPlaces, ProcessEntryReading, ProcessKindEntry } from "./kind/process-entry.js";
export { readProcessEntry } from "./kind/process-entry.js";
export type {
  ProcessKind,
  ProcessKindOptions,
  RunningProcessPlugin,
} from "./kind/process-kind.js";
export { createProcessKind } from "./kind/process-kind.js";
export type { ManifestReading, PluginManifest } from "./manifest/manifest.js";
export { readManifest } from "./manifest/read-manifest.js";
export { createPluginSupervisor } from "./supervisor/create-plugin-supervisor.js";
export type {
  PluginStanding,
  PluginSupervisor,
  SupervisedPlugin,
  SupervisorOptions,
} from "./supervisor/supervisor.js";
export { inspectPlugin } from "./tree/inspect-plugin.js";
export type { InspectedPlugin, InspectOptions } from "./tree/inspected-plugin.js";
export { aveErrors } from "./wire-errors.js";
