import { Client, type Transport } from "@modelcontextprotocol/client";
import { answerTo, clientCapabilities, clientInfo, roots, textSample, toolSample } from "./answers.js";
import { Heard, type ListKind, type Page, type Subject } from "./subject.js";

export const modes = ["legacy", "auto", { pin: "2026-07-28" }] as const;
export type Mode = (typeof modes)[number];

function createClient(heard: Heard, mode: Mode): Client {
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
    versionNegotiation: { mode },
    enforceStrictCapabilities: true,
    listChanged,
  });
  client.setRequestHandler("elicitation/create", ({ params }) => answerTo(params.message));
  client.setRequestHandler("sampling/createMessage", ({ params }) => (params.tools ? toolSample : textSample));
  client.setRequestHandler("roots/list", () => ({ roots }));
  client.setNotificationHandler("notifications/message", ({ params }) => heard.tell("log", params));
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => heard.tell("updated", params.uri));
  return client;
}

/** Without a cursor this client collects all pages, so the first is asked for as a plain request. */
async function pageOf(client: Client, kind: ListKind, cursor: string | undefined): Promise<Page> {
  const params = cursor === undefined ? {} : { cursor };
  const pages = {
    tools: async () =>
      client.request({ method: "tools/list", params }).then(({ tools, nextCursor }) => ({ items: tools, nextCursor })),
    prompts: async () =>
      client
        .request({ method: "prompts/list", params })
        .then(({ prompts, nextCursor }) => ({ items: prompts, nextCursor })),
    resources: async () =>
      client
        .request({ method: "resources/list", params })
        .then(({ resources, nextCursor }) => ({ items: resources, nextCursor })),
    resourceTemplates: async () =>
      client
        .request({ method: "resources/templates/list", params })
        .then(({ resourceTemplates, nextCursor }) => ({ items: resourceTemplates, nextCursor })),
  };
  return pages[kind]();
}

/** A connected client of the official SDK 2.x. */
export async function connectSdk2(transport: Transport, mode: Mode): Promise<Subject & { readonly client: Client }> {
  const heard = new Heard();
  const client = createClient(heard, mode);
  await client.connect(transport);
  const era = client.getProtocolEra() === "modern" ? "modern" : "legacy";
  return {
    client,
    era,
    heard,
    revision: () => client.getNegotiatedProtocolVersion(),
    identity: () => client.getServerVersion(),
    instructions: () => client.getInstructions(),
    capabilities: () => client.getServerCapabilities(),
    page: (kind, cursor) => pageOf(client, kind, cursor),
    call: (name, args = {}, { meta, ...options } = {}) =>
      client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }, options),
    prompt: (name, args = {}) => client.getPrompt({ name, arguments: args }),
    complete: (ref, argument, chosen) =>
      client.complete({ ref, argument, ...(chosen && { context: { arguments: chosen } }) }),
    read: (uri) => client.readResource({ uri }),
    async subscribe(uri) {
      if (era === "modern") {
        const listen = await client.listen({ resourceSubscriptions: [uri] });
        return () => listen.close();
      }
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
    ping: () => client.ping(),
    setLevel: (level) => client.setLoggingLevel(level),
    rootsChanged: () => client.sendRootsListChanged(),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
