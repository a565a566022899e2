import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createJwtVerifier, type JwtAlgorithm, type JwtOptions, type TokenVerifier } from "../../src/auth.js";
import { audience, createSigner, issuer, never, present, type Signer } from "../support/issuer.js";

let folder: string;
let signer: Signer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-jwt-"));
  signer = await createSigner();
});
afterAll(() => rm(folder, { recursive: true }));

async function verifierOf(
  options: Partial<JwtOptions<string>> = {},
  keys: readonly object[] = [signer.jwk],
): Promise<TokenVerifier<string>> {
  const file = join(folder, `${Math.random()}.json`);
  await writeFile(file, JSON.stringify({ keys }), { mode: 0o600 });
  const principal: JwtOptions<string>["principal"] = ({ sub }) => (typeof sub === "string" ? sub : undefined);
  return createJwtVerifier({ issuer, audience, keys: { file }, principal, now: () => present, ...options });
}

describe("a JWT", () => {
  const algorithms: readonly JwtAlgorithm[] = [
    "RS256",
    "RS512",
    "PS256",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
  ];
  it.each(algorithms)("signed with %s by the issuer, for this server, is good", async (algorithm) => {
    const own = await createSigner(algorithm);
    const verifier = await verifierOf({}, [own.jwk]);
    expect(await verifier.verify(await own.sign(), never)).toEqual({ principal: "ada", scopes: ["read", "write"] });
  });

  it.each([
    { name: "scope as a text", claims: { scope: "a b  c" }, scopes: ["a", "b", "c"] },
    { name: "scope as a list", claims: { scope: ["a", "b"] }, scopes: ["a", "b"] },
    { name: "scp as a list", claims: { scope: undefined, scp: ["a"] }, scopes: ["a"] },
    { name: "scp as a text", claims: { scope: undefined, scp: "a b" }, scopes: ["a", "b"] },
    { name: "none", claims: { scope: undefined }, scopes: [] },
    { name: "what is none", claims: { scope: { a: true } }, scopes: [] },
    { name: "a list with what is none", claims: { scope: ["a", 7, null] }, scopes: ["a"] },
  ])("has scopes: $name", async ({ claims, scopes }) => {
    const verifier = await verifierOf();
    expect(await verifier.verify(await signer.sign(claims), never)).toEqual({ principal: "ada", scopes });
  });

  const seconds = present / 1_000;
  it.each([
    { name: "one that was good until now, within the tolerance", claims: { exp: seconds - 29 }, good: true },
    { name: "one that is too long past", claims: { exp: seconds - 30 }, good: false },
    { name: "one that is good from now, within the tolerance", claims: { nbf: seconds + 30 }, good: true },
    { name: "one that is not good yet", claims: { nbf: seconds + 31 }, good: false },
  ])("is judged by the clock: $name", async ({ claims, good }) => {
    const verifier = await verifierOf();
    expect((await verifier.verify(await signer.sign(claims), never)) !== undefined).toBe(good);
  });

  it("may be for others as well", async () => {
    const verifier = await verifierOf();
    const token = await signer.sign({ aud: ["https://other.example", audience] });
    expect(await verifier.verify(token, never)).toBeDefined();
  });

  it("has to be of the type that is asked for, if one is", async () => {
    const verifier = await verifierOf({ tokenType: "at+jwt" });
    const ofType = async (typ?: string): Promise<boolean> =>
      (await verifier.verify(await signer.sign({}, { ...(typ && { typ }) }), never)) !== undefined;
    expect(await Promise.all([ofType("at+jwt"), ofType("application/at+jwt")])).toEqual([true, true]);
    expect(await Promise.all([ofType("JWT"), ofType()])).toEqual([false, false]);
  });

  it("is of the one key when it names none, and refused when several would do", async () => {
    const [nameless, other] = await Promise.all([createSigner("ES256", ""), createSigner("ES256", "two")]);
    const token = await nameless.sign();
    expect(await (await verifierOf({}, [nameless.jwk])).verify(token, never)).toBeDefined();
    expect(await (await verifierOf({}, [nameless.jwk, other.jwk])).verify(token, never)).toBeUndefined();
  });

  it("is refused when the principal is nobody; what that is decided by are its claims", async () => {
    const seen: unknown[] = [];
    const verifier = await verifierOf({ principal: async (claims) => void seen.push(claims) });
    expect(await verifier.verify(await signer.sign({ groups: ["x"] }), never)).toBeUndefined();
    expect(seen).toMatchObject([{ sub: "ada", groups: ["x"] }]);
  });

  it("is refused when the principal is null, as when it is undefined", async () => {
    const reasons: string[] = [];
    const verifier = await verifierOf({ principal: () => null, onRefused: (reason) => void reasons.push(reason) });
    expect(await verifier.verify(await signer.sign(), never)).toBeUndefined();
    expect(reasons).toEqual(["no principal"]);
  });

  it("is for one of several audiences, where there are several", async () => {
    const verifier = await verifierOf({ audience: ["https://old.example.com/mcp", audience] });
    expect(await verifier.verify(await signer.sign(), never)).toBeDefined();
    expect(await verifier.verify(await signer.sign({ aud: "https://other.example.com" }), never)).toBeUndefined();
  });

  it("passes on what the principal throws: that is no fault of the token", async () => {
    const broken = new Error("the database is gone");
    const verifier = await verifierOf({ principal: () => Promise.reject(broken) });
    await expect(verifier.verify(await signer.sign(), never)).rejects.toBe(broken);
  });
});

describe("options", () => {
  const invalid = "AUTH_OPTIONS_INVALID";
  it.each([
    { name: "HS256", options: { algorithms: ["HS256"] }, code: invalid },
    { name: "none", options: { algorithms: ["none"] }, code: invalid },
    { name: "no algorithm", options: { algorithms: [] }, code: invalid },
    { name: "an empty issuer", options: { issuer: "" }, code: invalid },
    { name: "an empty audience", options: { audience: "" }, code: invalid },
    { name: "a limit that does not exist", options: { limits: { clockTolerance: 3 } }, code: invalid },
    { name: "keys over http", options: { keys: { url: "http://login.example.com/jwks" } }, code: invalid },
    { name: "a user in the address", options: { keys: { url: "https://a:b@x.example/" } }, code: invalid },
    { name: "a file that is not there", options: { keys: { file: "/nonexistent/jwks" } }, code: "FILE_UNREADABLE" },
  ])("are refused at the start: $name", async ({ options, code }) => {
    const given: JwtOptions<string> = JSON.parse(JSON.stringify({ issuer, audience, keys: { file: "x" }, ...options }));
    await expect(createJwtVerifier({ ...given, principal: () => "x" })).rejects.toMatchObject({ code });
  });

  it.each([
    { name: "no JSON", content: "SECRET{" },
    { name: "no set of keys", content: '{"SECRET":1}' },
    { name: "too many keys", content: JSON.stringify({ keys: Array.from({ length: 101 }, () => ({ kty: "EC" })) }) },
  ])("name a file of keys that holds $name, without what it holds", async ({ content }) => {
    const file = join(folder, "bad.json");
    await writeFile(file, content, { mode: 0o600 });
    const failed = await verifierOf({ keys: { file } }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: "KEYS_INVALID", message: expect.stringContaining(file) });
    expect(String(failed)).not.toContain("SECRET");
  });
});
