// The server of the measurement: the official SDK 1.x, one echo tool, low-level Server so that zod does not decide the figures.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "echo", version: "1.0.0" }, { capabilities: { tools: {} } });
const text = "x".repeat(1024 * 1024);
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: "echo", inputSchema: { type: "object" } }],
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: "text", text: params.arguments?.large === true ? text : (params.arguments?.text ?? "") }],
}));
await server.connect(new StdioServerTransport());
