/** A plugin of Berth. What it does is here; kit/ speaks with the host. */
import { servePlugin } from "../kit/plugin.js";

servePlugin({
  name: "my-plugin",
  version: "1.0.0",
  outputDescriptor: 3,
  tools: [
    {
      name: "greet",
      description: "Greets somebody.",
      inputSchema: {
        type: "object",
        properties: { name: { type: "string" } },
        required: ["name"],
        additionalProperties: false,
      },
      call: (input) => `hello, ${String(input["name"])}`,
    },
  ],
});
