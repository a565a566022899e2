import type * as berth from "../../src/index.js";

/** Prompts and resources of a server. */
export type Shown = Pick<berth.McpServerOptions<string>, "prompts" | "resources" | "resourceTemplates">;

const icon = { src: "https://example.org/icon.png", mimeType: "image/png", sizes: ["48x48"] };
function form(field: string): berth.InputRequest {
  const requestedSchema = { type: "object", properties: { [field]: { type: "string" } }, required: [field] };
  return { method: "elicitation/create", params: { mode: "form", message: `${field}?`, requestedSchema } };
}

const people = ["ada", "alan", "grace"];
const completer = ({ value, chosen }: { value: string; chosen: Readonly<Record<string, string>> }): readonly string[] =>
  people.filter((name) => name.startsWith(value) && name !== chosen["not"]);

/** A prompt, resource or template for each behaviour. */
export const shown: Shown = {
  prompts: [
    {
      name: "greet",
      title: "Greet",
      description: "Greets",
      icons: [icon],
      permission: "use",
      arguments: [
        { name: "who", title: "Whom", required: true, complete: completer },
        { name: "how", description: "In which manner" },
        { name: "all", complete: () => Array.from({ length: 101 }, (_, index) => `v${index}`) },
      ],
      handler: ({ arguments: { who, how } }) => `Greet ${who} ${how ?? "warmly"}`,
    },
    {
      name: "talk",
      permission: "use",
      handler: () => ({
        description: "three",
        messages: [
          { role: "user", content: { type: "image", data: "AAEC", mimeType: "image/png" } },
          { role: "user", content: { type: "audio", data: "AAEC", mimeType: "audio/wav" } },
          { role: "assistant", content: { type: "text", text: "Hello" } },
        ],
      }),
    },
    { name: "grüße", permission: "use", handler: () => "Servus" },
    {
      name: "asks",
      permission: "use",
      handler: async ({ requestInput }) => JSON.stringify(await requestInput({ name: form("name") })),
    },
    { name: "breaks", permission: "use", handler: () => Promise.reject(new Error("the password is hunter2")) },
    { name: "secret", permission: "admin", handler: () => "gold" },
  ],
  resources: [
    {
      uri: "note:///1",
      name: "first",
      title: "First",
      description: "The first note",
      mimeType: "text/plain",
      size: 5,
      icons: [icon],
      annotations: { audience: ["assistant"], priority: 1, lastModified: "2026-07-28T00:00:00Z" },
      permission: "use",
      read: () => "first",
    },
    { uri: "note:///blob", name: "bytes", permission: "use", read: () => ({ blob: "AAEC", mimeType: "image/png" }) },
    {
      uri: "note:///folder",
      name: "folder",
      permission: "use",
      read: () => [
        { uri: "note:///folder/a", text: "a" },
        { uri: "note:///folder/b", text: "b" },
      ],
    },
    { uri: "note:///gone", name: "gone", permission: "use", read: () => undefined },
    { uri: "note:///grüße", name: "greetings", permission: "use", read: () => "Servus" },
    {
      uri: "note:///asks",
      name: "asks",
      permission: "use",
      read: async ({ requestInput }) => JSON.stringify(await requestInput({ name: form("name") })),
    },
    { uri: "note:///secret", name: "secret", permission: "admin", read: () => "gold" },
  ],
  resourceTemplates: [
    {
      uriTemplate: "note:///by/{author}",
      name: "by author",
      title: "By author",
      icons: [icon],
      mimeType: "text/plain",
      permission: "use",
      complete: { author: completer },
      read: ({ variables }) => `by ${variables["author"]}`,
    },
    {
      uriTemplate: "file:///{+path}/as/{format}",
      name: "converted",
      permission: "use",
      read: ({ variables }) => JSON.stringify(variables),
    },
    { uriTemplate: "vault:///{item}", name: "vault", permission: "admin", read: () => "gold" },
  ],
};
