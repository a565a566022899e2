import { createServer, type IncomingMessage, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBearerAdmitter, createJwtVerifier } from "../../src/auth.js";
import { createHttpHandler, type HttpHandler } from "../../src/http.js";
import { createSigner, type KeyServer, keySet, type Signer, startKeyServer } from "../support/issuer.js";
import { sampleServer } from "../support/sample.js";

let signer: Signer;
let authorization: KeyServer;
let issuer: string;
let node: Server;
let handler: HttpHandler;
let endpoint: URL;
/** What clients asked the authorization server for. */
const grants: { readonly client: string; readonly resource: string | null; readonly scope: string | null }[] = [];

/** An authorization server with what `client_credentials` needs (RFC 8414, RFC 6749 § 4.4, RFC 8707). */
const answer: KeyServer["answer"] = (request, response) => {
  const send = (value: unknown): void =>
    void response.setHeader("content-type", "application/json").end(JSON.stringify(value));
  if (request.url === "/jwks") keySet(signer.jwk)(request, response);
  else if (request.url === "/token") void grant(request).then(send);
  else if (request.url?.startsWith("/.well-known/oauth-authorization-server")) {
    send({
      issuer,
      token_endpoint: `${issuer}/token`,
      authorization_endpoint: `${issuer}/authorize`,
      response_types_supported: ["code"],
      grant_types_supported: ["client_credentials"],
      token_endpoint_auth_methods_supported: ["client_secret_basic"],
      code_challenge_methods_supported: ["S256"],
    });
  } else response.writeHead(404).end();
};

async function grant(request: IncomingMessage): Promise<object> {
  const asked = new URLSearchParams(await text(request));
  const [, credentials = ""] = (request.headers.authorization ?? "").split(" ");
  const [client = ""] = Buffer.from(credentials, "base64").toString().split(":");
  const [resource, scope] = [asked.get("resource"), asked.get("scope")];
  grants.push({ client, resource, scope });
  const exp = Math.floor(Date.now() / 1_000) + 60;
  const claims = { iss: issuer, sub: client, aud: resource ?? "nobody", scope: scope ?? "", exp };
  return { access_token: await signer.sign(claims), token_type: "Bearer", expires_in: 60 };
}

beforeAll(async () => {
  signer = await createSigner();
  authorization = await startKeyServer(answer);
  issuer = new URL(authorization.url).origin;
  node = createServer((request, response) => handler.node(request, response));
  await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
  const address = node.address();
  endpoint = new URL(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/mcp`);
  const verifier = await createJwtVerifier({
    issuer,
    audience: endpoint.href,
    keys: { url: authorization.url },
    principal: ({ sub }) => (typeof sub === "string" ? sub : undefined),
  });
  const metadata = { resource: endpoint.href, authorizationServers: [issuer] };
  const admitter = createBearerAdmitter({ verifier, requiredScopes: ["read", "write"], metadata });
  handler = createHttpHandler({ server: sampleServer(), admitter });
});
afterAll(async () => {
  await handler.close();
  node.closeAllConnections();
  await new Promise((resolve) => node.close(resolve));
  await authorization[Symbol.asyncDispose]();
});

describe("a client of the official SDK that knows the address of the server and nothing else", () => {
  it.each(["legacy", "auto"] as const)(
    "finds the authorization server by the challenge, asks it for what is needed, and is served (%s)",
    async (mode) => {
      grants.length = 0;
      const authProvider = new ClientCredentialsProvider({
        clientId: "robot",
        clientSecret: "s3cret",
        expectedIssuer: issuer,
      });
      const client = new Client({ name: "robot", version: "1.0.0" }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(endpoint, { authProvider }));
      const result = await client.callTool({ name: "echo", arguments: { text: "hello" } });
      expect(result.content).toEqual([{ type: "text", text: "hello" }]);
      await client.close();
      expect(grants).toEqual([{ client: "robot", resource: endpoint.href, scope: "read write" }]);
    },
  );
});
