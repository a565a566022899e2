// A server of the official SDK, line 1 or 2 (argument), over our transport: one tool, and a timer that would keep it alive.
import { createStreamTransport } from "@berth/stdio-transport";
import { sdkTransport } from "@berth/stdio-transport/sdk";

const line = process.argv[2];
const { McpServer } = await import(
  line === "1" ? "@modelcontextprotocol/sdk/server/mcp.js" : "@modelcontextprotocol/server"
);
const z = await import("zod");
const server = new McpServer({ name: `sdk-${line}`, version: "1.0.0" });
const shape = { text: z.string() };
server.registerTool(
  "echo",
  { description: "says it again", inputSchema: line === "1" ? shape : z.object(shape) },
  async ({ text }) => ({ content: [{ type: "text", text }] }),
);
setInterval(() => undefined, 1_000);
server.server.onclose = () => process.exit(0);
await server.connect(sdkTransport(createStreamTransport({ readable: process.stdin, writable: process.stdout })));
