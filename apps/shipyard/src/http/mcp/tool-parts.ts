import type { Sessions } from "@berth/code-sessions";
import type { Scheduler } from "@berth/environment-leases";
import { type DefineTool, toolsFor } from "@berth/mcp-server";
import type { RunCode } from "../calls.js";

/** What the tools work with. */
export interface ToolParts {
  readonly sessions: Sessions;
  readonly runCode: RunCode;
  readonly scheduler: Scheduler;
  readonly heartbeatMs: number;
  readonly onFault: (fault: unknown) => void;
}

/** The one permission of this server's tools and resources. */
export const usePermission = "use";

export const defineTool: DefineTool<string> = toolsFor<string>();

export function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
