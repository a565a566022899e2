import type { JsonObject } from "@berth/jsonrpc-framing";
import type { PluginSupervisor } from "@berth/process-plugins";
import { createPluginClient, type PluginClient, type PluginRequest } from "./plugin-client.js";

/** The MCP half of one plugin, whichever instance of it runs. */
export interface McpHalf {
  readonly plugin: string;
  /** Starts the plugin where it does not run. @throws what that throws, and as `PluginClient.request`. */
  request(request: PluginRequest): Promise<JsonObject>;
}

/** One client for each instance, made when it is first asked; an instance that ends takes its client with it. */
export function createMcpHalf(plugin: string, supervisor: Pick<PluginSupervisor, "instance">): McpHalf {
  let held: { readonly id: string; readonly client: PluginClient } | undefined;
  return {
    plugin,
    async request(request) {
      const instance = await supervisor.instance(plugin, { signal: request.signal });
      if (held === undefined || held.id !== instance.id || !held.client.isOpen)
        held = { id: instance.id, client: createPluginClient(instance.openMcp()) };
      return held.client.request(request);
    },
  };
}
