// The golden server over the built package, as a process. Argument: options as JSON.
import { createMcpServer, RpcError } from "@berth/mcp-server";
import { serveStdio } from "@berth/mcp-server/stdio";
import { goldenServer, startsAt } from "./server.ts";
import { shown } from "./shown.ts";

const { server, ...options } = JSON.parse(process.argv[2] ?? "{}");
await serveStdio({
  server: goldenServer({ createMcpServer, RpcError, shown }, () => startsAt, server),
  principal: "ada",
  logger: () => undefined,
  ...options,
});
