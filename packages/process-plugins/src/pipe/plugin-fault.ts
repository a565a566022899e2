import { ProcessPluginError, type ProcessPluginErrorCode, type ProcessPluginErrorDetails } from "../errors.js";

/** @param words What the plugin did, or cannot do: `wrote a batch`. */
export function pluginFault(
  plugin: string,
  code: ProcessPluginErrorCode,
  words: string,
  details: ProcessPluginErrorDetails = {},
): ProcessPluginError {
  return new ProcessPluginError(code, `plugin ${plugin} ${words}`, { plugin, ...details });
}
