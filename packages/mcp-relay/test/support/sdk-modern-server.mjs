// A server of the official SDK, 2.x. argv[2]: "reject" serves 2026-07-28 alone, "serve" both eras.
import { fromJsonSchema, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const nothing = fromJsonSchema({ type: "object", properties: {} });
const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });

function createServer() {
  const server = new McpServer({ name: "sdk-server", version: "2.0.0" }, { instructions: "from the SDK" });
  server.registerTool("echo", { inputSchema: nothing }, async () => text("echo"));
  server.registerTool("asks", { inputSchema: nothing }, async (_given, { mcpReq }) => {
    const answers = mcpReq.inputResponses;
    if (answers !== undefined) return text(answers);
    const requestedSchema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
    return inputRequired({
      inputRequests: {
        sure: inputRequired.elicit({ message: "Sure?", requestedSchema }),
        said: inputRequired.createMessage({
          messages: [{ role: "user", content: { type: "text", text: "say" } }],
          maxTokens: 5,
        }),
        where: inputRequired.listRoots(),
      },
    });
  });
  server.registerTool("steps", { inputSchema: nothing }, async (_given, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [1, 2, 3])
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress } });
    return text("done");
  });
  server.registerTool(
    "waits",
    { inputSchema: nothing },
    (_given, { mcpReq }) =>
      new Promise((resolve) =>
        mcpReq.signal.addEventListener("abort", () => {
          process.stderr.write("aborted\n");
          resolve(text("aborted"));
        }),
      ),
  );
  server.registerTool("grows", { inputSchema: nothing }, async () => {
    server.registerTool("grown", { inputSchema: nothing }, async () => text("grown"));
    server.sendToolListChanged();
    return text("grew");
  });
  return server;
}

serveStdio(createServer, { legacy: process.argv[2] });
