import { createMcpServer } from "../../dist/index.js";
import { serveStdio } from "../../dist/stdio.js";

const server = createMcpServer({
  identity: { name: "bench", version: "1" },
  authorize: () => true,
  tools: [
    {
      name: "echo",
      description: "Says it again",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      permission: "use",
      handler: ({ arguments: { text } }) => text,
    },
  ],
});
await serveStdio({ server, principal: "bench" });
