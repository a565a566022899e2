/** What a client of the official SDK sees of the prompts and resources of a plugin: the same questions in each era, over each transport. */
import type { Client as Sdk2 } from "@modelcontextprotocol/client";
import type { Client as Sdk1 } from "@modelcontextprotocol/sdk/client/index.js";

/** What was seen. */
export interface SeenShelf {
  readonly capabilities: readonly unknown[];
  readonly prompts: unknown;
  readonly greeting: unknown;
  readonly review: unknown;
  readonly refused: readonly unknown[];
  readonly resources: unknown;
  readonly templates: unknown;
  readonly read: readonly unknown[];
  readonly completed: readonly unknown[];
}

const codeOf = ({ code }: { readonly code: number }): number => code;

export const addresses = ["shelf://books/one", "shelf://books/cover", "shelf://all/drei", "shelf://hidden/index"];

export async function lookAtShelf(client: Sdk1 | Sdk2): Promise<SeenShelf> {
  const { prompts: canPrompt, resources: canRead, completions } = client.getServerCapabilities() ?? {};
  const listed = (await client.listPrompts()).prompts;
  const get = (name: string, args?: Record<string, string>) =>
    client.getPrompt({ name, ...(args && { arguments: args }) });
  const read = [];
  for (const uri of addresses) read.push((await client.readResource({ uri })).contents[0]);
  const complete = async (
    ref: { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string },
    name: string,
  ) => (await client.complete({ ref, argument: { name, value: "A" } })).completion;
  return {
    capabilities: [canPrompt, canRead, completions],
    prompts: listed,
    greeting: (await get("shelf__greet", { who: "Ada" })).messages,
    review: (await get("shelf__review")).messages,
    refused: [
      await get("shelf__greet").catch(codeOf),
      await get("shelf__none").catch(codeOf),
      await client.readResource({ uri: "shelf://all/none" }).catch(codeOf),
    ],
    resources: (await client.listResources()).resources,
    templates: (await client.listResourceTemplates()).resourceTemplates,
    read,
    completed: [
      await complete({ type: "ref/prompt", name: "shelf__greet" }, "who"),
      await complete({ type: "ref/resource", uri: "shelf://all/{title}" }, "title"),
    ],
  };
}

const text = (value: string) => ({ type: "text", text: value });

/** What all of them see. @param missing The number by which the client tells of a resource that is not there. */
export function expectedShelf(missing: number): SeenShelf {
  const [one, cover, drei, hidden] = addresses;
  const mimeType = "text/plain";
  // JavaScript reads the last digit of the number below otherwise than it was sent.
  return {
    capabilities: [{ listChanged: true }, { listChanged: true }, {}],
    prompts: [
      {
        name: "shelf__greet",
        title: "Greet",
        description: "Greets somebody.",
        arguments: [{ name: "who", description: "A name", required: true }],
      },
      { name: "shelf__review", description: "Reviews the first book." },
    ],
    greeting: [{ role: "user", content: text("Say hello to Ada.") }],
    review: [
      { role: "user", content: text("Review this:") },
      { role: "user", content: { type: "resource", resource: { uri: one, mimeType, text: "The first book." } } },
    ],
    refused: [-32602, -32602, missing],
    resources: [
      { uri: one, name: "one", title: "One", mimeType, size: 15 },
      { uri: cover, name: "cover", mimeType: "image/gif" },
    ],
    templates: [{ uriTemplate: "shelf://all/{title}", name: "all", mimeType }],
    read: [
      { uri: one, mimeType, text: "The first book." },
      { uri: cover, mimeType: "image/gif", blob: "R0lGODlhAQABAAAAACw=" },
      { uri: drei, mimeType, text: "Das dritte Buch. ✓" },
      { uri: hidden, text: "one, two, drei", _meta: { "com.example/number": 9007199254740992 } },
    ],
    completed: [
      { values: ["Ada", "Alan"], total: 2, hasMore: false },
      { values: [], total: 0, hasMore: false },
    ],
  };
}
