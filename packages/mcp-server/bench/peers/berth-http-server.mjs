import { serveHttp } from "../../dist/http.js";
import { createMcpServer } from "../../dist/index.js";

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
const { port } = await serveHttp({
  server,
  principal: "bench",
  sessions: { limits: { maxSessions: 20_000, maxSessionsPerPrincipal: 20_000 } },
});
process.stdout.write(`${port}\n`);
process.stdin.on("end", () => process.exit(0)).resume();
