import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "bench", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: "text", text: params.arguments.text }],
}));
await server.connect(new StdioServerTransport());
process.stdin.on("end", () => process.exit(0));
