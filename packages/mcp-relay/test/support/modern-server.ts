import type { Answerer, Script } from "./scripted-server.js";
import type { Message } from "./wire-end.js";

/** What a server of 2026-07-28 offers in tests. */
export const modernCapabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  logging: {},
  extensions: { "io.modelcontextprotocol/tasks": {} },
} as const;

/** A result in the form of 2026-07-28. */
export function complete(members: string): string {
  return `{"resultType":"complete",${members}}`;
}

/** Serves 2026-07-28 alone: `initialize` is refused, and so is what lacks its `_meta`. */
export function modernServer(more: Script = {}): Script {
  const discover = complete(
    `"supportedVersions":["2026-07-28"],"capabilities":${JSON.stringify(modernCapabilities)},"instructions":"be kind",` +
      `"ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"3.1.4"}}`,
  );
  return guarded({
    "server/discover": () => discover,
    "tools/list": () =>
      complete('"tools":[{"name":"x","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"public"'),
    "tools/call": ({ params }) =>
      complete(`"content":[{"type":"text","text":${JSON.stringify(JSON.stringify(params))}}]`),
    ...more,
  });
}

function guarded(script: Script): Script {
  const checked = Object.entries(script).map(([method, answer]): [string, Answerer] => [
    method,
    (message, server) => {
      if (!hasMeta(message)) throw new Error(`${method} came without its _meta: ${JSON.stringify(message)}`);
      return answer(message, server);
    },
  ]);
  return Object.fromEntries(checked);
}

function hasMeta({ params }: Message): boolean {
  const text = JSON.stringify(params?.["_meta"] ?? null);
  return text.includes('"io.modelcontextprotocol/protocolVersion":"2026-07-28"') && text.includes("clientCapabilities");
}
