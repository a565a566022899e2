import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";

const handler = createMcpHandler(
  () => {
    const server = new Server({ name: "bench", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/call", ({ params }) => ({
      content: [{ type: "text", text: params.arguments.text }],
    }));
    return server;
  },
  { responseMode: "json" },
);
const server = createServer(toNodeHandler(handler));
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
process.stdin.on("end", () => process.exit(0)).resume();
