import type { JsonObject } from "@berth/jsonrpc-framing";
import { isRpcError } from "@berth/mcp-server";
import type { PluginSupervisor } from "@berth/process-plugins";
import { createPluginClient, type PluginClient, type PluginRequest } from "./plugin-client.js";
import { isSilence } from "./plugin-words.js";
import type { PluginWatch } from "./watch-plugins.js";

/** One request to whichever instance runs. */
export interface HalfRequest extends PluginRequest {
  /** Told which instance will be asked, before anything leaves; when it rejects, nothing does. */
  readonly beforeSend?: ((instance: string) => Promise<void>) | undefined;
}

/** The MCP half of one plugin, whichever instance of it runs. */
export interface McpHalf {
  readonly plugin: string;
  /** Starts the plugin where it does not run. @throws what that throws, and as `PluginClient.request`. */
  request(request: HalfRequest): Promise<JsonObject>;
}

export interface HalfParts {
  readonly supervisor: Pick<PluginSupervisor, "instance">;
  /** Told what came of each request. */
  readonly watch: Pick<PluginWatch, "called">;
}

/** One client for each instance, made when it is first asked; an instance that ends takes its client with it. */
export function createMcpHalf(plugin: string, { supervisor, watch }: HalfParts): McpHalf {
  let held: { readonly id: string; readonly client: PluginClient } | undefined;
  return {
    plugin,
    async request({ beforeSend, ...request }) {
      const instance = await supervisor.instance(plugin, { signal: request.signal });
      if (held === undefined || held.id !== instance.id || !held.client.isOpen)
        held = { id: instance.id, client: createPluginClient(instance.openMcp()) };
      const { client } = held;
      await beforeSend?.(instance.id);
      try {
        const result = await client.request(request);
        watch.called(instance.id, "answered");
        return result;
      } catch (error) {
        if (isSilence(error)) watch.called(instance.id, "silent");
        else if (isRpcError(error)) watch.called(instance.id, "answered");
        throw error;
      }
    },
  };
}
