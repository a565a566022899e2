export type { ProcessPluginErrorCode, ProcessPluginErrorDetails } from "./errors.js";
export { isProcessPluginError, ProcessPluginError } from "./errors.js";
export type {
  HookInput,
  Json,
  Log,
  LogLevel,
  PluginCall,
  PluginDefinition,
  PluginHealth,
  PluginHook,
  PluginTool,
  ToolAnswer,
} from "./plugin/plugin-definition.js";
export type { ServedPlugin } from "./plugin/serve-plugin.js";
export { servePlugin } from "./plugin/serve-plugin.js";
export { aveErrors } from "./wire-errors.js";
