// In TypeScript: arguments, the answer to a question and the structured result have the types that their schemas say.
import { createMcpServer, toolsFor } from "@berth/mcp-server";

interface User {
  readonly id: string;
  readonly scopes: readonly string[];
}
const defineTool = toolsFor<User>();
const transfer = defineTool({
  name: "transfer",
  description: "Moves money",
  permission: "transfer",
  inputSchema: {
    type: "object",
    properties: { to: { type: "string" }, amount: { type: "number" } },
    required: ["to", "amount"],
  },
  outputSchema: { type: "object", properties: { state: { enum: ["done", "refused"] } }, required: ["state"] },
  async handler({ arguments: { to, amount }, principal, requestInput }) {
    const requestedSchema = { type: "object", properties: { yes: { type: "boolean" } }, required: ["yes"] } as const;
    const params = { message: `Give ${to} ${amount} of ${principal.id}'s?`, requestedSchema };
    const { sure } = await requestInput({ sure: { method: "elicitation/create", params } });
    return { structuredContent: { state: sure.action === "accept" && sure.content.yes ? "done" : "refused" } };
  },
});
export const server = createMcpServer<User>({
  identity: { name: "bank", version: "1.0.0" },
  authorize: ({ principal, permission }) => principal.scopes.includes(permission),
  principalId: ({ id }) => id,
  tools: [transfer],
});
