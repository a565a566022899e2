export type * from "./executor/credentials.js";
export type { PluginHostErrorCode } from "./executor/errors.js";
export { isPluginHostError, PluginHostError } from "./executor/errors.js";
export type * from "./executor/extensions.js";
export type * from "./executor/json.js";
export type * from "./executor/plugin-call.js";
export type * from "./executor/plugin-config.js";
export type * from "./executor/plugin-host.js";
export type * from "./executor/plugin-kind.js";
