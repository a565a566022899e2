// A whole MCP server in one file, without packages: lists its tools over two pages, echoes, shows its environment.
// SMALL_DESCRIPTION changes what it says of `echo`; SMALL_EXTRA adds a tool; both without a change of its file.
import { createInterface } from "node:readline";
import { note } from "./small-note.mjs";

const object = { type: "object", properties: { text: { type: "string" } } };
const tools = [
  { name: "echo", description: process.env.SMALL_DESCRIPTION ?? "says it again", inputSchema: object },
  {
    name: "environment",
    description: "names of its variables",
    inputSchema: object,
    annotations: { readOnlyHint: true },
  },
  { name: "delete_note", description: "forgets", inputSchema: object, annotations: { destructiveHint: true } },
  ...(process.env.SMALL_EXTRA === undefined
    ? []
    : [{ name: process.env.SMALL_EXTRA, description: "new", inputSchema: object }]),
];
const text = (value) => ({ content: [{ type: "text", text: value }] });
const calls = {
  echo: ({ text: said = "" }) => text(`${note}${said}`),
  environment: () => text(Object.keys(process.env).sort().join(",")),
  delete_note: () => text("gone"),
  die: () => process.exit(7),
};
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true }, prompts: {} },
    serverInfo: { name: "small", version: "1.0.0" },
    instructions: "Say it once.",
  }),
  ping: () => ({}),
  "tools/list": ({ cursor } = {}) =>
    cursor === "2" ? { tools: tools.slice(2) } : { tools: tools.slice(0, 2), nextCursor: "2" },
  "prompts/list": () => ({ prompts: [{ name: "greet", description: "a greeting" }] }),
  "prompts/get": () => ({ messages: [{ role: "user", content: { type: "text", text: "hello" } }] }),
  "tools/call": ({ name, arguments: given = {} }) => (calls[name] ?? calls.echo)(given),
};
console.error("small server is up");
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const reply = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: "unknown method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
}
