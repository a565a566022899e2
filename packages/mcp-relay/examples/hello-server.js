import { createInterface } from "node:readline";

// A server with one tool, without any library.
const results = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "hello", version: "1" },
  },
  "tools/list": { tools: [{ name: "hello", description: "Greets.", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "hello" }] },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }));
}
