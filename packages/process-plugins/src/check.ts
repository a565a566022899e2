export type { CheckFinding, CheckOptions, CheckReport } from "./check/check-plugin.js";
export type { NewPlugin, NewPluginOptions, PluginLanguage } from "./check/new/new-plugin.js";
export { newPlugin } from "./check/new/new-plugin.js";
export { checkPlugin } from "./check/run-check.js";
export type { ProcessPluginErrorCode, ProcessPluginErrorDetails } from "./errors.js";
export { isProcessPluginError, ProcessPluginError } from "./errors.js";
