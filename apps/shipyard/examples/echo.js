// An MCP application for `berth-shipyard serve --application ./echo.js:createEcho --principal ada`: one tool that answers
// with what it was given, and says for whom.
import { createMcpServer } from "@berth/mcp-server";

/** Called once, without arguments. Who the client is was decided by whoever started the command. */
export function createEcho() {
  return createMcpServer({
    identity: { name: "echo", version: "1.0.0" },
    authorize: ({ permission }) => permission === "echo",
    tools: [
      {
        name: "echo",
        description: "Answers with the text that it was given",
        inputSchema: {
          type: "object",
          properties: { text: { type: "string" } },
          required: ["text"],
          additionalProperties: false,
        },
        permission: "echo",
        handler: ({ arguments: { text }, principal }) => `${principal}: ${text}`,
      },
    ],
  });
}
