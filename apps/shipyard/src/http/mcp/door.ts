import type { NamesServed } from "@berth/command-line/http";
import { createMcpServer } from "@berth/mcp-server";
import { type Admitter, createHttpHandler, type HttpHandler } from "@berth/mcp-server/http";
import { localPrincipal } from "../parts.js";
import { executeTool } from "./execute-tool.js";
import { fileResources } from "./resources.js";
import { listTool, startTool, stopTool } from "./session-tools.js";
import { type ToolParts, usePermission } from "./tool-parts.js";

export interface McpDoorParts extends ToolParts {
  readonly version: string;
  readonly admitter: Admitter<string> | undefined;
  readonly names: NamesServed;
  readonly maxBodyBytes: number;
}

/** MCP at `/mcp`, in every revision that is served. */
export interface McpDoor extends AsyncDisposable {
  readonly handler: HttpHandler;
  close(): Promise<void>;
}

export function createMcpDoor(parts: McpDoorParts): McpDoor {
  const { admitter, names, onFault, maxBodyBytes } = parts;
  const server = createMcpServer<string>({
    identity: { name: "berth-shipyard", version: parts.version, title: "Berth Shipyard" },
    // As the original answers.
    invalidArguments: "tool-error",
    instructions:
      "Runs Python in sandboxes. Start a session to keep variables between calls; without one each call gets a fresh process. " +
      "Files in /app/uploads outlive the process.",
    // Whoever was admitted may use all of it, on what is theirs.
    authorize: ({ permission }) => permission === usePermission,
    tools: [executeTool(parts), startTool(parts), listTool(parts), stopTool(parts)],
    resourceTemplates: fileResources(parts.sessions),
    onObserverError: onFault,
  });
  const handler = createHttpHandler({
    server,
    ...(admitter === undefined ? { principal: localPrincipal } : { admitter }),
    allowedHosts: names.hosts,
    allowedOrigins: names.allowedOrigins,
    limits: { maxBodyBytes },
    // The original's clients read nothing but streams, of which each answer is the first event.
    sessions: { answers: "stream" },
    onUnexpectedError: onFault,
    logger: (text, error) => onFault(error ?? new Error(text)),
  });
  const close = async (): Promise<void> => {
    await handler.close();
    await server.close();
  };
  return { handler, close, [Symbol.asyncDispose]: close };
}
