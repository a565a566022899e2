// The same server with a zod schema: its handler gets what zod made of the arguments.
import { createMcpServer } from "@berth/mcp-server";
import { serveStdio } from "@berth/mcp-server/stdio";
import { z } from "zod";

const server = createMcpServer({
  identity: { name: "greeter", version: "1.0.0" },
  authorize: ({ principal, permission }) => principal === "local" && permission === "greet",
  tools: [
    {
      name: "greet",
      description: "Greets somebody",
      inputSchema: z.object({ name: z.string().trim().min(1), times: z.number().int().max(3).default(1) }),
      permission: "greet",
      handler: ({ arguments: { name, times } }) => Array(times).fill(`Hello, ${name}!`).join(" "),
    },
  ],
});
await serveStdio({ server, principal: "local" });
