// A server over the built package: what an application would write. Arguments: "continue" goes on after unexpected errors; "http" serves HTTP
// and writes the address on its first line.
import { createMcpServer } from "@berth/mcp-server";
import { serveHttp } from "@berth/mcp-server/http";
import { serveStdio } from "@berth/mcp-server/stdio";

const nothing = { type: "object", additionalProperties: false };
const text = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const form = (message, field) => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message,
    requestedSchema: { type: "object", properties: { [field]: { type: "string" } }, required: [field] },
  },
});
const tool = (name, handler, inputSchema = nothing) => ({
  name,
  description: name,
  inputSchema,
  permission: "use",
  handler,
});
const server = createMcpServer({
  identity: { name: "sample", version: "1.0.0" },
  authorize: ({ permission }) => permission === "use",
  tools: [
    tool("echo", ({ arguments: { text } }) => text, text),
    tool("prints", () => {
      console.log("a print of the application");
      process.stdout.write("and another\n");
      return "printed";
    }),
    tool("breaks", () => {
      throw new Error("the password is hunter2");
    }),
    tool(
      "slow",
      ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    ),
    tool("later", () => new Promise((resolve) => setTimeout(resolve, 50, "later"))),
    tool("steps", async ({ progress, log }) => {
      for (const step of [1, 2, 3]) {
        progress(step, 3);
        await new Promise((resolve) => setTimeout(resolve, 20)); // SDK clients lose progress that comes with the answer
      }
      log("warning", "done");
      return "stepped";
    }),
    tool("asks", async ({ requestInput }) => {
      const { name } = await requestInput({ name: form("Who?", "name") });
      const { place } = await requestInput({ place: form("Where?", "place") });
      return `${name.content.name} in ${place.content.place}`;
    }),
    tool("changes", () => {
      server.listChanged("tools");
      server.resourceUpdated("note:///1");
      return "changed";
    }),
    { ...tool("secret", () => "gold"), permission: "admin" },
  ],
  prompts: [
    {
      name: "greet",
      permission: "use",
      arguments: [
        {
          name: "who",
          required: true,
          complete: ({ value }) => ["ada", "alan"].filter((who) => who.startsWith(value)),
        },
      ],
      handler: ({ arguments: { who } }) => `Greet ${who}`,
    },
  ],
  resources: [{ uri: "note:///1", name: "note", mimeType: "text/plain", permission: "use", read: () => "first" }],
  resourceTemplates: [
    {
      uriTemplate: "note:///by/{author}",
      name: "notes",
      permission: "use",
      read: ({ variables }) => `of ${variables.author}`,
    },
  ],
});
setInterval(() => undefined, 60_000); // what keeps badly written servers alive for ever
if (process.argv[2] === "http") console.log((await serveHttp({ server, principal: "local" })).url);
else await serveStdio({ server, principal: "local", onUnexpectedError: process.argv[2] ?? "exit" });
