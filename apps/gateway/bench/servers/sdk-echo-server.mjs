// An MCP server on the official SDK 1.x with one tool: `echo` gives its text back, `repeat` gives that many bytes.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "echo", version: "1.0.0" }, { capabilities: { tools: {} } });
const tool = (name, property, type) => ({
  name,
  description: name,
  inputSchema: { type: "object", properties: { [property]: { type } }, required: [property] },
});
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [tool("echo", "text", "string"), tool("repeat", "bytes", "integer")],
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [
    { type: "text", text: params.name === "echo" ? params.arguments.text : "x".repeat(params.arguments.bytes) },
  ],
}));
await server.connect(new StdioServerTransport());
