// One of each: a tool with a structured result, a resource, a template whose values are proposed, a prompt with arguments.
import { createMcpServer, defineTool } from "@berth/mcp-server";
import { serveStdio } from "@berth/mcp-server/stdio";

const notes = new Map([["today", "Buy bread."]]);

const server = createMcpServer({
  identity: { name: "notes", version: "1.0.0", title: "Notes", icons: [{ src: "https://example.com/notes.png" }] },
  instructions: "Read note:///index before you write.",
  authorize: ({ principal }) => principal === "local",
  tools: [
    defineTool({
      name: "write",
      description: "Writes a note",
      permission: "write",
      annotations: { idempotentHint: true },
      inputSchema: {
        type: "object",
        properties: { name: { type: "string", pattern: "^[a-z]+$" }, text: { type: "string" } },
        required: ["name", "text"],
      },
      outputSchema: { type: "object", properties: { length: { type: "integer" } }, required: ["length"] },
      handler({ arguments: { name, text } }) {
        notes.set(name, text);
        server.resourceUpdated(`note:///notes/${name}`);
        return { structuredContent: { length: text.length } };
      },
    }),
  ],
  resources: [{ uri: "note:///index", name: "index", permission: "read", read: () => [...notes.keys()].join("\n") }],
  resourceTemplates: [
    {
      uriTemplate: "note:///notes/{name}",
      name: "note",
      mimeType: "text/plain",
      permission: "read",
      complete: { name: ({ value }) => [...notes.keys()].filter((name) => name.startsWith(value)) },
      read: ({ variables: { name = "" } }) => notes.get(name),
    },
  ],
  prompts: [
    {
      name: "summary",
      description: "Asks for a summary of a note",
      permission: "read",
      arguments: [{ name: "note", required: true, complete: () => [...notes.keys()] }],
      handler: ({ arguments: { note = "" } }) => `Summarize this note: ${notes.get(note)}`,
    },
  ],
});
await serveStdio({ server, principal: "local" });
