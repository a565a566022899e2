import { shownError } from "../shown-error.js";

/** Names these warnings on standard error, and in `process.on("warning")`. */
const type = "McpServerWarning";

/** An empty list would be a riddle. */
export function warnOfNobody(): void {
  process.emitWarning("the server has no `authorize`: nobody may see or use anything of it", {
    type,
    code: "MCP_NO_AUTHORIZER",
  });
}

/** Tells the first error of a server's authorizer; observers are told all of them. */
export function createAuthorizerWarning(): (error: unknown) => void {
  let warned = false;
  return (error) => {
    if (warned) return;
    warned = true;
    const text = `\`authorize\` threw, which denies; told once: ${shownError(error)}`;
    process.emitWarning(text, { type, code: "MCP_AUTHORIZER_FAILED" });
  };
}
