// A whole MCP server in one file, without packages, which says what it was sent: tools, prompts and resources.
import { createInterface } from "node:readline";

const object = { type: "object" };
let called = 0;
const tools = ["echo", "spare", "long", "slow", "count"].map((name) => ({
  name,
  description: name,
  inputSchema: object,
}));
const text = (value) => ({ content: [{ type: "text", text: value }] });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const calls = {
  echo: (given) => text(JSON.stringify(given)),
  spare: (given) => text(`spare ${JSON.stringify(given)}`),
  long: ({ chars = 5_000 }) => text("a".repeat(chars)),
  count: () => text(`called ${called} times`),
  slow: (_given, meta) => {
    send({ method: "notifications/progress", params: { progressToken: meta.progressToken, progress: 1 } });
    return text("slow");
  },
};
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: "hooked", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: given = {}, _meta = {} }) => {
    called += 1;
    return calls[name](given, _meta);
  },
  "prompts/list": () => ({ prompts: [{ name: "greet" }] }),
  "prompts/get": ({ arguments: given = {} }) => ({
    messages: [{ role: "user", content: { type: "text", text: `greet ${given.who}` } }],
  }),
  "resources/list": () => ({ resources: [{ uri: "note:one", name: "one" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": ({ uri }) => ({
    contents: [
      { uri, text: `${uri} says secret` },
      { uri: `${uri}#2`, text: "a second secret" },
    ],
  }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  send({ id, ...(answer ? { result: answer(params) } : { error: { code: -32601, message: "unknown method" } }) });
}
