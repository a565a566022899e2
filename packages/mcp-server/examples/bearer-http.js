// A server over HTTP for those who have a token.
//   node bearer-http.js tokens.jsonl ada     makes a token for ada and prints it; the file gets its hash
//   node bearer-http.js tokens.jsonl         serves; PORT says where (default: any free port)
import { appendFileSync } from "node:fs";
import { createMcpServer } from "@berth/mcp-server";
import { createBearerAdmitter, createToken, openTokenFile } from "@berth/mcp-server/auth";
import { serveHttp } from "@berth/mcp-server/http";

const [path = "tokens.jsonl", name] = process.argv.slice(2);
if (name !== undefined) {
  const expiresAt = new Date(Date.now() + 90 * 86_400_000);
  const { token, line } = createToken({ name, scopes: ["greet"], expiresAt });
  appendFileSync(path, `${line}\n`, { mode: 0o600 });
  console.log(token);
} else {
  const server = createMcpServer({
    identity: { name: "greeter", version: "1.0.0" },
    principalId: ({ name }) => name,
    authorize: ({ principal, permission }) => principal.scopes.includes(permission),
    tools: [
      {
        name: "greet",
        description: "Greets whoever asks",
        inputSchema: { type: "object", additionalProperties: false },
        permission: "greet",
        handler: ({ principal }) => `Hello, ${principal.name}!`,
      },
    ],
  });
  const verifier = await openTokenFile({
    path,
    principal: ({ name, scopes }) => ({ name, scopes }),
    onReloadError: (error) => console.error(String(error)),
  });
  const admitter = createBearerAdmitter({ verifier });
  const { url, close } = await serveHttp({ server, admitter, port: Number(process.env.PORT ?? 0) });
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, close);
  console.error(url);
}
