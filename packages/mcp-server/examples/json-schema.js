// A tool with structured results: both of its schemas are plain JSON Schema 2020-12, and both are checked.
import { createMcpServer } from "@berth/mcp-server";
import { serveStdio } from "@berth/mcp-server/stdio";

const money = { type: "object", properties: { amount: { type: "number" }, currency: { enum: ["EUR", "USD"] } } };

const server = createMcpServer({
  identity: { name: "exchange", version: "1.0.0" },
  authorize: ({ principal }) => principal === "local",
  tools: [
    {
      name: "convert",
      description: "Converts money",
      permission: "convert",
      inputSchema: {
        $defs: { money },
        type: "object",
        properties: {
          from: { $ref: "#/$defs/money", required: ["amount", "currency"] },
          rate: { exclusiveMinimum: 0 },
        },
        required: ["from", "rate"],
        additionalProperties: false,
      },
      outputSchema: { ...money, required: ["amount", "currency"], additionalProperties: false },
      handler({ arguments: { from, rate } }) {
        const currency = from.currency === "EUR" ? "USD" : "EUR";
        return { structuredContent: { amount: from.amount * rate, currency } };
      },
    },
  ],
});
await serveStdio({ server, principal: "local" });
