// Prompts, resources and templates of the interop server. Five of each: more than one page.
import { questions } from "./questions.mjs";

const permission = "use";
const annotations = { audience: ["user"], priority: 0.5, lastModified: "2026-01-02T03:04:05Z" };
const pixel = "iVBORw0KGgo=";
const fillers = (count, make) => Array.from({ length: count }, (_, index) => make(index + 1));
const beginsWith = (value) => (candidate) => candidate.startsWith(value);

export const prompts = [
  {
    name: "greet",
    title: "Greeting",
    description: "Greets somebody",
    icons: [{ src: "https://example.com/greet.png" }],
    _meta: { "example.com/kind": "prompt" },
    permission,
    arguments: [
      {
        name: "who",
        description: "Whom",
        required: true,
        complete: ({ value }) => ["ada", "alan"].filter(beginsWith(value)),
      },
      {
        name: "how",
        complete: ({ value, chosen }) => [`${chosen.who}-warmly`, `${chosen.who}-coldly`].filter(beginsWith(value)),
      },
    ],
    handler: ({ arguments: { who } }) => ({
      description: "A greeting",
      messages: [
        { role: "user", content: { type: "text", text: `Greet ${who}` } },
        { role: "assistant", content: { type: "image", data: pixel, mimeType: "image/png" } },
        { role: "user", content: { type: "resource", resource: { uri: "note:///1", text: "first" } } },
      ],
    }),
  },
  {
    name: "asking",
    permission,
    handler: async ({ requestInput }) => JSON.stringify((await requestInput(questions.accept[0])).a),
  },
  ...fillers(3, (n) => ({ name: `filler-${n}`, permission, handler: () => `${n}` })),
  { name: "secret", permission: "admin", handler: () => "gold" },
];

export const resources = [
  {
    uri: "note:///1",
    name: "note",
    title: "First note",
    description: "A note",
    mimeType: "text/plain",
    size: 5,
    annotations,
    icons: [{ src: "https://example.com/note.png" }],
    _meta: { "example.com/kind": "resource" },
    permission,
    read: () => "first",
  },
  {
    uri: "note:///bytes",
    name: "bytes",
    mimeType: "image/png",
    permission,
    read: () => ({ blob: pixel, mimeType: "image/png" }),
  },
  {
    uri: "note:///asking",
    name: "asking",
    permission,
    read: async ({ requestInput }) => JSON.stringify((await requestInput(questions.accept[0])).a),
  },
  ...fillers(2, (n) => ({ uri: `note:///filler/${n}`, name: `filler-${n}`, permission, read: () => `${n}` })),
  { uri: "note:///secret", name: "secret", permission: "admin", read: () => "gold" },
];

export const resourceTemplates = [
  {
    uriTemplate: "note:///by/{author}/{year}",
    name: "notes",
    title: "Notes of a year",
    annotations,
    permission,
    complete: {
      author: ({ value }) => ["ada", "alan"].filter(beginsWith(value)),
      year: ({ value, chosen }) => (chosen.author === "ada" ? ["1842", "1843"] : ["1936"]).filter(beginsWith(value)),
    },
    read: ({ variables: { author, year } }) => [
      { text: `of ${author} in ${year}`, mimeType: "text/plain" },
      { uri: "note:///bytes", blob: pixel },
    ],
  },
  ...fillers(4, (n) => ({ uriTemplate: `filler-${n}:///{x}`, name: `filler-${n}`, permission, read: () => `${n}` })),
];
