import { describe, expect, it } from "vitest";
import {
  createBearerAdmitter,
  createJwtVerifier,
  createToken,
  firstOf,
  isAuthError,
  openTokenFile,
  type TokenVerifier,
} from "../../src/auth.js";
import { audience, issuer, never } from "../support/issuer.js";

/** What JavaScript lets pass. */
const untyped = (options: object) => Object.assign(JSON.parse("{}"), options);
const verifier: TokenVerifier<string> = { verify: () => ({ principal: "ada", scopes: [] }) };
const resource = "https://mcp.example.com/mcp";
const metadata = { resource, authorizationServers: ["https://login.example.com"] };

const bearer = (options: object): unknown => createBearerAdmitter(untyped({ verifier, ...options }));
const described = (more: object): unknown => bearer({ metadata: { ...metadata, ...more } });
const tokens = (options: object): unknown =>
  openTokenFile(untyped({ path: "/nonexistent", principal: () => "ada", ...options }));
const jwt = (options: object): unknown =>
  createJwtVerifier(untyped({ issuer, audience, keys: { file: "/nonexistent" }, principal: () => "ada", ...options }));
const token = (options: object): unknown => createToken(untyped({ name: "ada", expiresAt: "never", ...options }));
const firstOfThese = (...verifiers: readonly unknown[]): unknown =>
  firstOf(...verifiers.map((one) => untyped([one])[0]));

/** What a call throws, or rejects with. */
async function faultOf(make: () => unknown): Promise<unknown> {
  try {
    await make();
  } catch (error) {
    return error;
  }
  return "nothing is thrown";
}
type Row = readonly [make: () => unknown, text: string];

describe("options of authentication are refused at the start, each with its name, what it is and what it has to be", () => {
  it.each<Row>([
    [() => jwt({ issuer: undefined }), "issuer is missing; it has to be one text"],
    [() => jwt({ issuer: "" }), "issuer is empty; it has to be one text"],
    [() => jwt({ issuer: [issuer] }), "issuer is a list; it has to be one text that is not empty; for several"],
    [() => jwt({ audience: undefined }), "audience is missing; it has to be a text that is not empty, or a list"],
    [() => jwt({ audience: null }), "audience is null"],
    [() => jwt({ audience: "" }), "audience is empty"],
    [() => jwt({ audience: [] }), "audience is an empty list"],
    [() => jwt({ audience: [audience, ""] }), "audience is a list"],
    [() => jwt({ audience: [undefined] }), "audience is a list"],
    [() => jwt({ keys: undefined }), "keys is missing; it has to be an object"],
    [() => jwt({ keys: {} }), "keys has to have either a file or a url"],
    [() => jwt({ keys: { file: "x", url: "https://x.example" } }), "keys has to have either a file or a url"],
    [() => jwt({ keys: { url: undefined } }), "keys.url is missing; it has to be a text"],
    [() => jwt({ keys: { file: "x", cache: 1 } }), 'there is no option of keys "cache"; there are file'],
    [() => jwt({ keys: { url: "http://x.example" } }), "keys.url begins with http:; it has to be https, or http on"],
    [() => jwt({ algorithm: ["ES256"] }), 'there is no option "algorithm" (did you mean'],
    [() => jwt({ algorithms: "ES256" }), "algorithms is a text; it has to be a list of algorithms"],
    [() => jwt({ algorithms: ["HS256"] }), 'algorithms has "HS256"; there are RS256'],
    [() => jwt({ tokentype: "at+jwt" }), 'there is no option "tokentype"'],
    [() => jwt({ tokenType: 1 }), "tokenType is 1; it has to be a text"],
    [() => jwt({ principal: undefined }), "principal is missing; it has to be a function"],
    [() => jwt({ principal: "ada" }), "principal is a text; it has to be a function"],
    [() => jwt({ onRefused: true }), "onRefused is true; it has to be a function"],
    [() => jwt({ onKeysError: {} }), "onKeysError is an object; it has to be a function"],
    [() => jwt({ limits: 5 }), "limits is 5; it has to be an object"],
    [() => jwt({ limits: { maxKeys: 0 } }), "maxKeys is 0; it has to be a whole number from 1 to 10000"],
    [() => jwt({ now: 5 }), "now is 5; it has to be a function"],
    [() => createJwtVerifier(JSON.parse("null")), "the argument is null; it has to be an object"],
  ])("createJwtVerifier, row %#", refuses);

  it.each<Row>([
    [() => tokens({ path: undefined }), "path is missing; it has to be a text"],
    [() => tokens({ principal: undefined }), "principal is missing; it has to be a function"],
    [() => tokens({ onReloaderror: () => 1 }), 'there is no option "onReloaderror" (did you mean'],
    [() => tokens({ onReloadError: 1 }), "onReloadError is 1; it has to be a function"],
    [() => tokens({ limits: [] }), "limits is an empty list; it has to be an object"],
    [() => tokens({ limits: { maxTokens: 0 } }), "maxTokens is 0; it has to be a whole number from 1 to 1000000"],
    [() => tokens({ now: 1 }), "now is 1; it has to be a function"],
  ])("openTokenFile, row %#", refuses);

  it.each<Row>([
    [() => bearer({ verifier: undefined }), "verifier is missing; it has to be a TokenVerifier, as openTokenFile"],
    [() => bearer({ verifier: () => "ada" }), "verifier is a function; it has to be a TokenVerifier"],
    [() => bearer({ verifier: {} }), "verifier is an object; it has to be a TokenVerifier"],
    [() => bearer({ verifier: Promise.resolve(verifier) }), "verifier is a promise: await it"],
    [
      () => bearer({ requiredScope: ["mcp"] }),
      'there is no option "requiredScope" (did you mean "requiredScopes"?); there are verifier, requiredScopes',
    ],
    [() => bearer({ requiredScopes: "mcp" }), "requiredScopes is a text; it has to be a list of scopes"],
    [() => bearer({ requiredScopes: ["a b"] }), "requiredScopes holds a text that is no scope"],
    [() => bearer({ impliedScopes: ["a"] }), "impliedScopes is a list; it has to be an object"],
    [
      () => bearer({ impliedScopes: { admin: "read" } }),
      "impliedScopes.admin is a text; it has to be a list of scopes",
    ],
    [() => bearer({ onUnavailable: 1 }), "onUnavailable is 1; it has to be a function"],
    [() => bearer({ limits: { maxToken: 1 } }), 'there is no limit "maxToken"'],
    [() => bearer({ metadata: resource }), "metadata is a text; it has to be an object"],
    [
      () => described({ authorizationServer: [] }),
      'there is no option of metadata "authorizationServer" (did you mean "authorizationServers"?)',
    ],
    [() => described({ resource: undefined }), "metadata.resource is missing; it has to be a text"],
    [() => described({ resource: "/mcp" }), "metadata.resource is no absolute URL"],
    [
      () => described({ authorizationServers: undefined }),
      "metadata.authorizationServers is missing; it has to be a list",
    ],
    [() => described({ authorizationServers: [] }), "metadata.authorizationServers is empty"],
    [() => described({ authorizationServers: issuer }), "metadata.authorizationServers is a text; it has to be a list"],
    [() => described({ scopesSupported: "mcp" }), "metadata.scopesSupported is a text; it has to be a list of scopes"],
    [() => described({ name: 5 }), "metadata.name is 5; it has to be a text"],
    [() => described({ documentation: 5 }), "metadata.documentation is 5; it has to be a text"],
  ])("createBearerAdmitter, row %#", refuses);

  it.each<Row>([
    [() => token({ expiresAt: undefined }), 'expiresAt is missing; it has to be a Date, or "never"'],
    [() => token({ expiresAt: "2027-01-31T00:00:00Z" }), 'expiresAt is a text; it has to be a Date, or "never"'],
    [() => token({ expiresAt: 1_800_000_000_000 }), "expiresAt is 1800000000000; it has to be a Date"],
    [() => token({ expiresAt: new Date(Number.NaN) }), "expiresAt is an invalid Date"],
    [() => token({ expiresAt: new Date(0) }), "expiresAt is 1970-01-01T00:00:00.000Z; it has to be later than now"],
    [
      () => token({ expiresAt: new Date(9), now: () => 9 }),
      "expiresAt is 1970-01-01T00:00:00.009Z; it has to be later",
    ],
    [() => token({ name: 5 }), "name is 5; it has to be a text"],
    [() => token({ scopes: "mcp" }), "scopes is a text; it has to be a list of scopes"],
    [() => token({ scopes: ["mcp read"] }), "scopes holds a text that is no scope (RFC 6749"],
    [() => token({ scopes: Array(101).fill("mcp") }), "a token has no list of scopes (RFC 6749 § 3.3), at most 100"],
    [() => token({ scope: ["mcp"] }), 'there is no option "scope" (did you mean'],
    [() => token({ randomBytes: 32 }), "randomBytes is 32; it has to be a function"],
  ])("createToken, row %#", refuses);

  it.each<Row>([
    [() => firstOfThese(verifier, {}), "firstOf: verifier 2 is an object; it has to be a TokenVerifier"],
    [() => firstOfThese(Promise.resolve(verifier)), "firstOf: verifier 1 is a promise: await it"],
    [() => firstOfThese([verifier]), "firstOf: verifier 1 is a list; it has to be a TokenVerifier"],
  ])("firstOf, row %#", refuses);

  async function refuses(make: () => unknown, text: string): Promise<void> {
    const fault = await faultOf(make);
    expect(fault).toMatchObject({ code: "AUTH_OPTIONS_INVALID", message: expect.stringContaining(text) });
    expect(isAuthError(fault)).toBe(true);
  }

  it("and no user or password of an address is told", async () => {
    for (const url of ["ftp://ada:hunter2@x.example/?key=hunter2", "//ada:hunter2", "https://ada:hunter2@x.example/"]) {
      expect(String(await faultOf(() => jwt({ keys: { url } })))).not.toContain("hunter2");
    }
  });
});

describe("a principal that is nobody", () => {
  it.each([undefined, null])("lets nobody in, whichever verifier says it: %s", async (principal) => {
    const given = createBearerAdmitter({ verifier: { verify: () => ({ principal, scopes: [] }) } });
    const head = { method: "POST", path: "/mcp", header: () => "Bearer x" };
    expect(await given.admit(head, never)).toMatchObject({ status: 401 });
  });
});
