// A server over the built package whose handlers do not wait for what they asked. Argument: "http" serves HTTP and writes the address on its first line.
import { createMcpServer } from "@berth/mcp-server";
import { serveHttp } from "@berth/mcp-server/http";
import { serveStdio } from "@berth/mcp-server/stdio";

const form = { message: "?", requestedSchema: { type: "object", properties: {} } };
const forgetting = (name, question) => ({
  name,
  description: name,
  inputSchema: { type: "object" },
  permission: "use",
  handler({ requestInput }) {
    requestInput({ q: question });
    return "not waited";
  },
});
const server = createMcpServer({
  identity: { name: "forgetful", version: "1.0.0" },
  authorize: () => true,
  limits: { clientAnswerMs: 20 },
  tools: [
    {
      name: "later",
      description: "Answers when questions that were asked before have been given up",
      inputSchema: { type: "object" },
      permission: "use",
      handler: () => new Promise((resolve) => setTimeout(resolve, 100, "later")),
    },
    forgetting("asks", { method: "elicitation/create", params: form }),
    forgetting("cannot-ask", { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } }),
    forgetting("asks-wrongly", { method: "elicit" }),
  ],
});
if (process.argv[2] === "http") {
  const { url } = await serveHttp({ server, principal: "local", port: 0, onUnexpectedError: () => undefined });
  process.stdout.write(`${url}\n`);
} else {
  await serveStdio({ server, principal: "local", onUnexpectedError: "continue" });
}
