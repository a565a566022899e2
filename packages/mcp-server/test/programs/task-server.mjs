// A stdio server whose tasks are kept in a folder: what an application would write. Argument: the folder.
import { createMcpServer } from "@berth/mcp-server";
import { serveStdio } from "@berth/mcp-server/stdio";
import { openFileTaskStore } from "../support/file-task-store.ts";

const form = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Sure?",
    requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
  },
};
const inputSchema = { type: "object", properties: { n: { type: "integer" } }, additionalProperties: false };
const tool = (name, handler) => ({
  name,
  description: name,
  inputSchema,
  permission: "use",
  task: "required",
  handler,
});
const server = createMcpServer({
  identity: { name: "tasks", version: "1.0.0" },
  authorize: ({ permission }) => permission === "use",
  tasks: { store: await openFileTaskStore(process.argv[2]), limits: { maxTasksPerPrincipal: 10_000 } },
  tools: [
    tool("counts", async ({ arguments: { n }, progress }) => {
      progress(n);
      await new Promise(setImmediate);
      return `counted to ${n}`;
    }),
    tool("asks", async ({ requestInput }) => JSON.stringify(await requestInput({ sure: form }))),
    tool(
      "waits",
      ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    ),
    tool("breaks", () => {
      throw new Error("the password is hunter2");
    }),
  ],
});
await serveStdio({ server, principal: "local" });
