import type { McpServerOptions } from "../../src/index.js";

const people = ["ada", "alan", "grace"];
const complete = ({ value, chosen }: { value: string; chosen: Readonly<Record<string, string>> }): readonly string[] =>
  people.filter((name) => name.startsWith(value) && name !== chosen["not"]);

/** Prompts and resources beside the sample tools. */
export const notes: Partial<McpServerOptions<string>> = {
  prompts: [
    {
      name: "greet",
      title: "Greet",
      description: "Greets",
      permission: "use",
      arguments: [{ name: "who", required: true, complete }, { name: "how" }],
      handler: ({ arguments: { who, how } }) => `Greet ${who} ${how ?? "warmly"}`,
    },
    {
      name: "talk",
      permission: "use",
      handler: () => ({
        description: "two",
        messages: [{ role: "assistant", content: { type: "text", text: "Hello" } }],
      }),
    },
    { name: "secret", permission: "admin", handler: () => "gold" },
  ],
  resources: [
    { uri: "note:///1", name: "first", mimeType: "text/plain", size: 5, permission: "use", read: () => "first" },
    { uri: "note:///blob", name: "bytes", permission: "use", read: () => [{ blob: "AAEC", mimeType: "image/png" }] },
    { uri: "note:///gone", name: "gone", permission: "use", read: () => undefined },
    { uri: "note:///secret", name: "secret", permission: "admin", read: () => "gold" },
  ],
  resourceTemplates: [
    {
      uriTemplate: "note:///by/{author}",
      name: "by author",
      permission: "use",
      complete: { author: complete },
      read: ({ variables }) => `by ${variables["author"]}`,
    },
    {
      uriTemplate: "file:///{+path}/as/{format}",
      name: "converted",
      permission: "use",
      read: ({ variables }) => JSON.stringify(variables),
    },
  ],
};
