import { ProcessPluginError } from "../errors.js";
import type { PluginDefinition } from "./plugin-definition.js";
import { isJson } from "./wire.js";

const maxHooks = 64;

/** @throws {ProcessPluginError} `OPTION_INVALID`: what a host would refuse later, and with fewer words. */
export function checkDefinition({ name, version, tools = [], hooks = {} }: PluginDefinition): void {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name)) refuse(`name ${JSON.stringify(name)} is not that of a plugin.json`);
  if (typeof version !== "string" || version === "") refuse("version is missing");
  const names = new Set<string>();
  for (const tool of tools) {
    if (!/^[A-Za-z0-9_.-]{1,128}$/.test(tool.name)) refuse(`${JSON.stringify(tool.name)} cannot be the name of a tool`);
    if (names.has(tool.name)) refuse(`two tools are called ${tool.name}`);
    if (!isJson(tool.inputSchema) || tool.inputSchema["type"] !== "object")
      refuse(`inputSchema of ${tool.name} is not one of type object`);
    names.add(tool.name);
  }
  if (Object.keys(hooks).length > maxHooks) refuse(`there are more than ${maxHooks} hooks`);
}

function refuse(message: string): never {
  throw new ProcessPluginError("OPTION_INVALID", message);
}
