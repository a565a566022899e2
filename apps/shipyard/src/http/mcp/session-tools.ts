import type { ToolDefinition } from "@berth/mcp-server";
import { givenId } from "../calls.js";
import { sessionObject, stopSession } from "../session-object.js";
import { defineTool, type ToolParts, textOrNothing, usePermission } from "./tool-parts.js";
import { objectResult, refused, restrictionBlocks, textBlock } from "./tool-results.js";
import { optionalId, sessionOutput } from "./tool-schemas.js";

const startInput = { type: "object", title: "start_python_session", properties: { session_id: optionalId } } as const;
const listInput = { type: "object", title: "list_python_sessions", properties: {} } as const;
const stopInput = {
  type: "object",
  title: "stop_python_session",
  properties: { session_id: { type: "string", title: "Session Id" } },
  required: ["session_id"],
} as const;
const sessionsOutput = {
  type: "object",
  title: "PythonSessions",
  properties: { result: { type: "array", items: sessionOutput, title: "Result" } },
  required: ["result"],
} as const;

export function startTool({ sessions }: ToolParts): ToolDefinition<string> {
  return defineTool({
    name: "start_python_session",
    description: "Starts a Python session of its own: variables, imports and files stay until it is stopped.",
    inputSchema: startInput,
    outputSchema: sessionOutput,
    permission: usePermission,
    annotations: { readOnlyHint: false, idempotentHint: false },
    async handler({ arguments: given, principal, signal }) {
      try {
        const id = givenId(textOrNothing(given["session_id"]));
        const session = await sessions.start({ owner: principal, id, signal });
        const status = session.status();
        const { content, ...rest } = objectResult(sessionObject(status, "active"));
        return { ...rest, content: [...content, ...restrictionBlocks(status)] };
      } catch (fault) {
        return refused(fault);
      }
    },
  });
}

export function listTool({ sessions }: ToolParts): ToolDefinition<string> {
  return defineTool({
    name: "list_python_sessions",
    description: "Lists the living Python sessions.",
    inputSchema: listInput,
    outputSchema: sessionsOutput,
    permission: usePermission,
    annotations: { readOnlyHint: true },
    handler({ principal }) {
      const result = sessions.list(principal).map((status) => sessionObject(status, "active"));
      return { content: result.map(textBlock), structuredContent: { result }, isError: false };
    },
  });
}

export function stopTool({ sessions, onFault }: ToolParts): ToolDefinition<string> {
  return defineTool({
    name: "stop_python_session",
    description: "Stops a Python session; code that runs in it is interrupted. Its id is free again.",
    inputSchema: stopInput,
    outputSchema: sessionOutput,
    permission: usePermission,
    annotations: { destructiveHint: true },
    async handler({ arguments: { session_id }, principal }) {
      try {
        return objectResult(await stopSession(sessions.get(principal, session_id), onFault));
      } catch (fault) {
        return refused(fault);
      }
    },
  });
}
