import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AdmissionRefusal,
  AuthError,
  type BearerOptions,
  createBearerAdmitter,
  firstOf,
  type TokenVerifier,
} from "../../src/auth.js";
import { never } from "../support/issuer.js";

const resource = "https://mcp.example.com/mcp";
const metadata = { resource, authorizationServers: ["https://login.example.com"] };
const metadataUrl = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
/** Knows tokens that are named in it. */
const knows = (tokens: { readonly [token: string]: readonly string[] }): TokenVerifier<string> => ({
  verify: (token) =>
    Object.hasOwn(tokens, token) ? { principal: `owner of ${token}`, scopes: tokens[token] ?? [] } : undefined,
});
const verifier = knows({ good: ["read", "write"], weak: ["read"], broad: ["admin"] });

function ask(
  authorization: string | undefined,
  options: Partial<BearerOptions<string>> = {},
): Promise<AdmissionRefusal | { principal: string }> {
  const admitter = createBearerAdmitter({ verifier, metadata, ...options });
  const header = (name: string): string | undefined => (name === "authorization" ? authorization : undefined);
  return Promise.resolve(admitter.admit({ method: "POST", path: "/mcp", header }, never));
}

describe("a bearer token", () => {
  it.each(["Bearer good", "bearer good", "BEARER   good", "Bearer good  "])("lets in: %j", async (authorization) => {
    expect(await ask(authorization)).toEqual({ principal: "owner of good" });
  });

  const bare = `Bearer resource_metadata="${metadataUrl}"`;
  const invalid = `Bearer error="invalid_token", resource_metadata="${metadataUrl}"`;
  const several = `Bearer error="invalid_request", resource_metadata="${metadataUrl}"`;
  it.each([
    { name: "no header", authorization: undefined, status: 401, challenge: bare },
    { name: "an empty header", authorization: "", status: 401, challenge: bare },
    { name: "another scheme", authorization: "Basic Z29vZA==", status: 401, challenge: bare },
    { name: "a scheme that only begins alike", authorization: "Bearers good", status: 401, challenge: bare },
    { name: "the token alone", authorization: "good", status: 401, challenge: bare },
    { name: "an unknown token", authorization: "Bearer bad", status: 401, challenge: invalid },
    { name: "an inherited name", authorization: "Bearer toString", status: 401, challenge: invalid },
    { name: "the scheme alone", authorization: "Bearer", status: 401, challenge: invalid },
    { name: "nothing after the scheme", authorization: "Bearer   ", status: 401, challenge: invalid },
    { name: "two words", authorization: "Bearer good good", status: 401, challenge: invalid },
    { name: "a quoted token", authorization: 'Bearer "good"', status: 401, challenge: invalid },
    { name: "a tab inside", authorization: "Bearer go\tod", status: 401, challenge: invalid },
    { name: "not ASCII", authorization: "Bearer göod", status: 401, challenge: invalid },
    { name: "a null character", authorization: "Bearer good\u0000", status: 401, challenge: invalid },
    { name: "a space that is none of ASCII", authorization: "Bearer \u00a0good", status: 401, challenge: invalid },
    { name: "a great many spaces", authorization: `Bearer ${" ".repeat(9_000)}good`, status: 401, challenge: invalid },
    { name: "too long", authorization: `Bearer ${"a".repeat(8_193)}`, status: 401, challenge: invalid },
    { name: "two credentials", authorization: "Bearer good, Bearer good", status: 400, challenge: several },
    { name: "two credentials, of which one is empty", authorization: "Bearer good,", status: 400, challenge: several },
  ])("does not: $name", async ({ authorization, status, challenge }) => {
    expect(await ask(authorization)).toEqual({ status, challenge, message: expect.any(String) });
  });

  it("is read in time that grows with its length, whatever it is", async () => {
    const pieces = ["a", "=", " ", "\t", "a ", "= ", "bearer "];
    for (const piece of pieces) {
      const startedAt = performance.now();
      await ask(`Bearer ${piece.repeat(60_000)}!`, { limits: { maxTokenBytes: 65_536 } });
      expect(performance.now() - startedAt).toBeLessThan(500);
    }
  });

  it("of any text: lets in nobody but the owner of a token that is known, and echoes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 60 }), async (text) => {
        const answer = await ask(`Bearer ~~${text}~~`);
        expect(answer).toMatchObject({ status: expect.any(Number) });
        expect(JSON.stringify(answer)).not.toContain("~~");
      }),
    );
  });
});

describe("scopes", () => {
  const requiredScopes = ["read", "write"];
  const scope = 'scope="read write"';

  it("are named wherever something is refused, all of them", async () => {
    const options = { requiredScopes };
    const metadataPart = `resource_metadata="${metadataUrl}"`;
    expect(await ask(undefined, options)).toMatchObject({ challenge: `Bearer ${metadataPart}, ${scope}` });
    expect(await ask("Bearer weak", options)).toMatchObject({
      status: 403,
      challenge: `Bearer error="insufficient_scope", ${metadataPart}, ${scope}`,
    });
    expect(await ask("Bearer good", options)).toEqual({ principal: "owner of good" });
  });

  it.each([
    { name: "by themselves", impliedScopes: { admin: ["read", "write"] }, admitted: true },
    {
      name: "through others",
      impliedScopes: { admin: ["editor"], editor: ["write", "reader"], reader: ["read"] },
      admitted: true,
    },
    { name: "in a circle", impliedScopes: { admin: ["editor"], editor: ["admin"] }, admitted: false },
    { name: "not all", impliedScopes: { admin: ["read"] }, admitted: false },
    { name: "not at all", impliedScopes: undefined, admitted: false },
  ])("may stand for others: $name", async ({ impliedScopes, admitted }) => {
    const answer = await ask("Bearer broad", { requiredScopes, impliedScopes });
    expect("principal" in answer).toBe(admitted);
  });
});

describe("the metadata", () => {
  const root = "/.well-known/oauth-protected-resource";
  const documentsOf = (given: object, more: object = {}): Map<string, unknown> =>
    new Map(createBearerAdmitter({ verifier, metadata: { ...metadata, ...given }, ...more }).documents);

  it("is one document, with the path of the resource and without", () => {
    const documents = documentsOf({
      scopesSupported: ["read"],
      name: "Notes",
      documentation: "https://example.com/?doc",
    });
    expect([...documents.keys()]).toEqual([root, `${root}/mcp`]);
    for (const document of documents.values()) {
      expect(document).toEqual({
        resource,
        authorization_servers: ["https://login.example.com"],
        bearer_methods_supported: ["header"],
        scopes_supported: ["read"],
        resource_name: "Notes",
        resource_documentation: "https://example.com/?doc",
      });
    }
  });

  it("names the scopes that are required where no others are named", () => {
    const [document] = documentsOf({}, { requiredScopes: ["a", "b", "a"] }).values();
    expect(document).toMatchObject({ scopes_supported: ["a", "b"] });
  });

  it.each([
    { of: "https://mcp.example.com", at: [root] },
    { of: "https://mcp.example.com/", at: [root] },
    { of: "http://127.0.0.1:3000/a/b", at: [root, `${root}/a/b`] },
    { of: "http://[::1]:3000/mcp", at: [root, `${root}/mcp`] },
  ])("of $of is at $at", ({ of, at }) => {
    expect([...documentsOf({ resource: of }).keys()]).toEqual(at);
  });

  it("absent: there is no document, and a challenge has a parameter all the same", async () => {
    expect(createBearerAdmitter({ verifier }).documents).toBeUndefined();
    expect(await ask(undefined, { metadata: undefined })).toMatchObject({ challenge: 'Bearer realm="mcp"' });
  });
});

describe("options", () => {
  const at = (given: string): object => ({ metadata: { ...metadata, resource: given } });
  it.each([
    { name: "a resource without scheme", options: at("mcp.example.com") },
    { name: "http that is not loopback", options: at("http://mcp.example.com/") },
    { name: "http on a name that only begins like loopback", options: at("http://127.0.0.1.example.com/") },
    { name: "a fragment", options: at(`${resource}#a`) },
    { name: "an empty fragment", options: at(`${resource}#`) },
    { name: "a query", options: at(`${resource}?a`) },
    { name: "a user", options: at("https://a:b@mcp.example.com/") },
    { name: "a line feed", options: at(`${resource}\nx: y`) },
    { name: "a file", options: at("file:///etc/passwd") },
    { name: "no authorization server", options: { metadata: { resource, authorizationServers: [] } } },
    {
      name: "an authorization server by http",
      options: { metadata: { resource, authorizationServers: ["http://x.example"] } },
    },
    { name: "a scope with a quote", options: { requiredScopes: ['a"b'] } },
    { name: "a scope with a space", options: { requiredScopes: ["a b"] } },
    { name: "an empty scope", options: { requiredScopes: [""] } },
    { name: "an implied scope that is none", options: { impliedScopes: { admin: ["a\nb"] } } },
    { name: "a limit out of range", options: { limits: { maxTokenBytes: 1 } } },
  ])("are refused at the start: $name", ({ options }) => {
    expect(() => createBearerAdmitter({ verifier, ...options })).toThrow(
      expect.objectContaining({ code: "AUTH_OPTIONS_INVALID" }),
    );
  });

  it("of quotes and backslashes in an address cannot leave their place in a header", async () => {
    const odd = { ...metadata, resource: 'https://mcp.example.com/a"b\\c' };
    expect(await ask(undefined, { metadata: odd })).toMatchObject({
      challenge: 'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/a%22b/c"',
    });
  });
});

describe("a verifier that cannot say", () => {
  const unavailable = new AuthError("KEYS_UNAVAILABLE", "the keys cannot be had");
  const fails = (error: Error): TokenVerifier<string> => ({ verify: () => Promise.reject(error) });

  it("is 503 with a time to come back, and the operator is told", async () => {
    const told: unknown[] = [];
    const onUnavailable = (error: unknown): void => void told.push(error);
    const answer = await ask("Bearer good", { verifier: fails(unavailable), onUnavailable });
    expect(answer).toEqual({ status: 503, retryAfterSeconds: 5, message: expect.any(String) });
    expect(told).toEqual([unavailable]);
  });

  it("is 503 also when nobody can be told", async () => {
    const onUnavailable = (): never => {
      throw new Error("the log is full");
    };
    expect(await ask("Bearer good", { verifier: fails(unavailable), onUnavailable })).toMatchObject({ status: 503 });
  });

  it.each([
    { name: "any other error", error: new Error("the database is gone") },
    { name: "an error of another code", error: new AuthError("FILE_MODE", "no") },
  ])("lets nobody in by throwing: $name is a fault of the server", async ({ error }) => {
    await expect(ask("Bearer good", { verifier: fails(error) })).rejects.toBe(error);
  });

  const good = { principal: "owner of good" };
  it.each([
    { name: "the first that knows", verifiers: [knows({}), verifier], outcome: good },
    { name: "one that cannot say, then one that knows", verifiers: [fails(unavailable), verifier], outcome: good },
    { name: "one that cannot say, then none", verifiers: [fails(unavailable), knows({})], outcome: { status: 503 } },
    { name: "none that knows", verifiers: [knows({}), knows({})], outcome: { status: 401 } },
    { name: "none at all", verifiers: [], outcome: { status: 401 } },
  ])("among several: $name", async ({ verifiers, outcome }) => {
    expect(await ask("Bearer good", { verifier: firstOf(...verifiers) })).toMatchObject(outcome);
  });
});
