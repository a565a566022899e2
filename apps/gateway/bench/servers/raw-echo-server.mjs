// The barest MCP server: line split, JSON.parse, JSON.stringify. Same tools as the SDK one.
let rest = "";
const tools = ["echo", "repeat"].map((name) => ({ name, description: name, inputSchema: { type: "object" } }));
const answers = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "raw", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: given }) => ({
    content: [{ type: "text", text: name === "echo" ? given.text : "x".repeat(given.bytes) }],
  }),
};
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  let out = "";
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) out += `${JSON.stringify({ jsonrpc: "2.0", id, result: answers[method](params) })}\n`;
  }
  if (out !== "") process.stdout.write(out);
});
