/** What a client of the official SDK sees of a host's plugins: the same questions in each era, over each transport. */
import type { Client as Sdk2 } from "@modelcontextprotocol/client";
import type { Client as Sdk1 } from "@modelcontextprotocol/sdk/client/index.js";

/** Of what the plugins are asked. */
export interface Aims {
  readonly plugins: readonly string[];
  readonly secrets: { readonly secretsDir: string; readonly otherDataDir: string };
  readonly network: { readonly host: string; readonly port: number };
}

/** What was seen. */
export interface Seen {
  readonly modern: boolean;
  readonly tools: readonly string[];
  readonly plugins: Readonly<Record<string, SeenPlugin>>;
}

interface SeenPlugin {
  readonly echo: unknown;
  readonly wrong: unknown;
  readonly unknown: unknown;
  readonly secrets: unknown;
  readonly network: unknown;
}

type Result = Readonly<Record<string, unknown>>;

export async function lookWith(client: Sdk1 | Sdk2, modern: boolean, aims: Aims): Promise<Seen> {
  const { tools } = await client.listTools();
  const call = async (name: string, args: object): Promise<Result> => client.callTool({ name, arguments: { ...args } });
  const plugins: Record<string, SeenPlugin> = {};
  for (const plugin of aims.plugins) {
    const wrong = await call(`${plugin}__echo`, { text: 1 });
    plugins[plugin] = {
      echo: (await call(`${plugin}__echo`, { text: "hello, wörld ✓" }))["content"],
      wrong: { isError: wrong["isError"], content: wrong["content"] },
      unknown: await call(`${plugin}__no_such`, {}).catch(({ code }: { readonly code: number }) => ({ code })),
      secrets: (await call(`${plugin}__escape_secrets`, aims.secrets))["structuredContent"],
      network: (await call(`${plugin}__escape_network`, aims.network))["structuredContent"],
    };
  }
  const names = tools.map(({ name }) => name).filter((name) => name.includes("__"));
  return { modern, tools: names.sort(), plugins };
}

/** What all of them see. */
export function expectedOf(modern: boolean, { plugins }: Aims): Seen {
  const each: SeenPlugin = {
    echo: [{ type: "text", text: "hello, wörld ✓" }],
    wrong: { isError: true, content: [{ type: "text", text: "Invalid arguments: text is not a string" }] },
    unknown: { code: -32602 },
    secrets: {
      control: { wrote: true, readBack: true, equal: true },
      secrets: { outcome: "refused", errno: 2, name: "ENOENT" },
      other: { outcome: "refused", errno: 2, name: "ENOENT" },
    },
    network: { outcome: "refused", errno: 111, name: "ECONNREFUSED" },
  };
  const tools = plugins.flatMap((plugin) =>
    ["echo", "escape_network", "escape_secrets"].map((name) => `${plugin}__${name}`),
  );
  return { modern, tools: tools.sort(), plugins: Object.fromEntries(plugins.map((plugin) => [plugin, each])) };
}
