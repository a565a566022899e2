import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { answerTo, clientCapabilities, clientInfo, roots, textSample, toolSample } from "./answers.js";
import { Heard, type ListKind, type Page, type Subject } from "./subject.js";

function createClient(heard: Heard): Client {
  const onChanged =
    (what: string) =>
    (_error: unknown, items: readonly unknown[] | null): void =>
      heard.tell(what, items);
  const listChanged = {
    tools: { onChanged: onChanged("tools changed"), debounceMs: 0 },
    prompts: { onChanged: onChanged("prompts changed"), debounceMs: 0 },
    resources: { onChanged: onChanged("resources changed"), debounceMs: 0 },
  };
  const client = new Client(clientInfo, {
    capabilities: clientCapabilities,
    listChanged,
    enforceStrictCapabilities: true,
  });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answerTo(params.message));
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => (params.tools ? toolSample : textSample));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => heard.tell("log", params));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard.tell("updated", params.uri));
  return client;
}

async function pageOf(client: Client, kind: ListKind, cursor: string | undefined): Promise<Page> {
  const params = cursor === undefined ? {} : { cursor };
  const pages = {
    tools: async () => client.listTools(params).then(({ tools, nextCursor }) => ({ items: tools, nextCursor })),
    prompts: async () => client.listPrompts(params).then(({ prompts, nextCursor }) => ({ items: prompts, nextCursor })),
    resources: async () =>
      client.listResources(params).then(({ resources, nextCursor }) => ({ items: resources, nextCursor })),
    resourceTemplates: async () =>
      client
        .listResourceTemplates(params)
        .then(({ resourceTemplates, nextCursor }) => ({ items: resourceTemplates, nextCursor })),
  };
  return pages[kind]();
}

/** A connected client of the official SDK 1.x. */
export async function connectSdk1(transport: Transport): Promise<Subject & { readonly client: Client }> {
  const heard = new Heard();
  const client = createClient(heard);
  let revision: string | undefined;
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
  // The client tells nobody but its transport which revision was agreed on.
  transport.setProtocolVersion = (version) => {
    revision = version;
    setProtocolVersion?.(version);
  };
  await client.connect(transport);
  return {
    client,
    era: "legacy",
    heard,
    revision: () => revision,
    identity: () => client.getServerVersion(),
    instructions: () => client.getInstructions(),
    capabilities: () => client.getServerCapabilities(),
    page: (kind, cursor) => pageOf(client, kind, cursor),
    call: (name, args = {}, { meta, ...options } = {}) =>
      client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }, undefined, options),
    prompt: (name, args = {}) => client.getPrompt({ name, arguments: args }),
    complete: (ref, argument, chosen) =>
      client.complete({ ref, argument, ...(chosen && { context: { arguments: chosen } }) }),
    read: (uri) => client.readResource({ uri }),
    async subscribe(uri) {
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
    ping: () => client.ping(),
    setLevel: (level) => client.setLoggingLevel(level),
    rootsChanged: () => client.sendRootsListChanged(),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
