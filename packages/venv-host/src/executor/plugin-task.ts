import type { Credential } from "./credentials.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { GlobalContext, PluginCall } from "./plugin-call.js";

/**
 * A call in wire form, for kinds that send it to a process (CPEX fact sheet §§ 2.2, 6 and 7): hook_type, payload, context, and
 * where the plugin may have them extensions and credential. What is absent is left out. It holds the token as plain text:
 * write it to the plugin, and nowhere else.
 */
export function writePluginCall({ hook, payload, context, extensions, credential }: PluginCall): JsonObject {
  return {
    hook_type: hook,
    payload,
    context: {
      state: context.state,
      global_context: wireGlobalContext(context.globalContext),
      metadata: context.metadata,
    },
    ...(extensions === undefined ? {} : { extensions }),
    ...(credential === undefined ? {} : { credential: wireCredential(credential) }),
  };
}

function wireGlobalContext(context: GlobalContext): JsonObject {
  return {
    request_id: context.requestId,
    ...present({
      user: context.user,
      user_context: context.userContext,
      tenant_id: context.tenantId,
      server_id: context.serverId,
      content_type: context.contentType,
    }),
    state: context.state,
    metadata: context.metadata,
  };
}

function wireCredential(credential: Credential): JsonObject {
  if ("inbound" in credential) {
    const { token, kind, sourceHeader } = credential.inbound;
    return { inbound: { token, source_header: sourceHeader, kind, headers: { [sourceHeader]: token } } };
  }
  const { token, outboundHeader, audience, scopes } = credential.delegated;
  return { delegated: { token, outbound_header: outboundHeader, audience, scopes } };
}

function present(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) kept[name] = value;
  return kept;
}
