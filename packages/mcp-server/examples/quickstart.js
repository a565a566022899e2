import { createMcpServer } from "@berth/mcp-server";
import { serveStdio } from "@berth/mcp-server/stdio";

const server = createMcpServer({
  identity: { name: "greeter", version: "1.0.0" },
  authorize: ({ principal, permission }) => principal === "local" && permission === "greet",
  tools: [
    {
      name: "greet",
      description: "Greets somebody",
      inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      permission: "greet",
      handler: ({ arguments: { name } }) => `Hello, ${name}!`,
    },
  ],
});
await serveStdio({ server, principal: "local" });
