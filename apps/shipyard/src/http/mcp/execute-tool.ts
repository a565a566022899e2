import type { ToolDefinition } from "@berth/mcp-server";
import { absentText, givenId, isAbsent } from "../calls.js";
import { outcomeText } from "../outcome-text.js";
import { tellProgress } from "./progress.js";
import { defineTool, type ToolParts, textOrNothing, usePermission } from "./tool-parts.js";
import { pictureBlocks, refused, restrictionBlocks, textResult } from "./tool-results.js";
import { optionalId } from "./tool-schemas.js";

/** In a call's `_meta`: 1 to 200 characters; the same call with the same key runs once. */
const idempotencyMeta = "dev.berth/idempotency-key";

const wrongKey = {
  content: [{ type: "text", text: `_meta["${idempotencyMeta}"] has to be a string` }],
  isError: true,
} as const;

const executeInput = {
  type: "object",
  title: "execute_python_code",
  properties: { command: { type: "string", title: "Command" }, session_id: optionalId },
  required: ["command"],
} as const;
const textOutput = {
  type: "object",
  title: "Output",
  properties: { result: { type: "string", title: "Result" } },
  required: ["result"],
} as const;

/** `execute_python_code`. */
export function executeTool({ runCode, scheduler, heartbeatMs }: ToolParts): ToolDefinition<string> {
  return defineTool({
    name: "execute_python_code",
    description:
      "Runs Python code in a sandbox and returns what it printed and the value of its last expression. With session_id it runs in that session, " +
      "whose variables stay; without, in a fresh process. Code that raises is an ordinary result, which begins with 'Error: Execution Error:'.",
    inputSchema: executeInput,
    outputSchema: textOutput,
    permission: usePermission,
    annotations: { readOnlyHint: false, openWorldHint: false },
    async handler({ arguments: given, principal, signal, meta, progress }) {
      const session = givenId(textOrNothing(given["session_id"]));
      const key = meta[idempotencyMeta];
      // Left out in silence, it would leave a client that sends twice without what it asked for.
      if (key !== undefined && typeof key !== "string") return wrongKey;
      const isAsked = meta["progressToken"] !== undefined;
      const teller = tellProgress({ progress, isAsked, scheduler, heartbeatMs });
      try {
        const outcome = await runCode({
          owner: principal,
          session,
          door: "mcp",
          code: given.command,
          onOutput: teller.onOutput,
          idempotencyKey: key,
          signal,
        });
        const { content, ...rest } = textResult(outcomeText(outcome).whole);
        return { ...rest, content: [...content, ...pictureBlocks(outcome), ...restrictionBlocks(outcome)] };
      } catch (fault) {
        if (session !== undefined && isAbsent(fault)) return textResult(absentText(session, fault));
        return refused(fault);
      } finally {
        teller.end();
      }
    },
  });
}
