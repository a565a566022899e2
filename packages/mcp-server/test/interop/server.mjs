// A server over the built package that offers everything which a client may have an interface for. Argument: "stdio", "http" (writes the address on its first
// line; the bearer token is the second argument), or "own" (a transport of its own over stdin and stdout, which alone lets a tool ping its client).
// After "stdio", "legacy" or "modern" serves one era only.
import { createInterface } from "node:readline";
import { createMcpServer } from "@berth/mcp-server";
import { createBearerAdmitter } from "@berth/mcp-server/auth";
import { createMemoryEventStore, serveHttp } from "@berth/mcp-server/http";
import { serveStdio } from "@berth/mcp-server/stdio";
import { prompts, resources, resourceTemplates } from "./lists.mjs";
import { createTools } from "./tools.mjs";

const [mode, option] = process.argv.slice(2);
const eras = {
  legacy: { legacy: ["2025-11-25", "2025-06-18"], modern: [] },
  modern: { legacy: [], modern: ["2026-07-28"] },
};
const icon = { src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48"] };
const requests = new Map();
let connection;
let http;
const server = createMcpServer({
  identity: {
    name: "interop",
    version: "1.2.3",
    title: "Interop",
    description: "Everything",
    websiteUrl: "https://example.com/",
    icons: [icon],
  },
  instructions: "Use echo first.",
  authorize: ({ permission }) => permission === "use",
  revisions: eras[option],
  cacheHints: { ttlMs: 60_000, scope: "private" },
  limits: { pageSize: 4 },
  isSafeError: (error) => error instanceof RangeError,
  observers: [({ method }) => void requests.set(method, (requests.get(method) ?? 0) + 1)],
  tools: createTools({
    icon,
    server: () => server,
    ping: () => connection.ping(),
    sessionCount: () => http?.sessionCount,
    requestCount: (method) => requests.get(method) ?? 0,
  }),
  prompts,
  resources,
  resourceTemplates,
});

async function serveOwnTransport() {
  const write = (message) => process.stdout.write(`${message}\n`);
  connection = server.openConnection({ send: (message) => write(Buffer.from(message).toString()) });
  for await (const line of createInterface({ input: process.stdin })) {
    server.handle(JSON.parse(line), { principal: "ada", connection }).then(
      (response) => response && write(JSON.stringify(response)),
      (error) => console.error(error),
    );
  }
  await connection.close();
}

async function serveOverHttp() {
  const verify = (given) => (given === option ? { principal: "ada", scopes: [] } : undefined);
  http = await serveHttp({
    server,
    admitter: createBearerAdmitter({ verifier: { verify } }),
    sessions: { eventStore: createMemoryEventStore(), limits: { retryMs: 20 } },
  });
  console.log(http.url);
}

if (mode === "http") await serveOverHttp();
else if (mode === "own") await serveOwnTransport();
else await serveStdio({ server, principal: "ada" });
