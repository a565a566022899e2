import { createHmac } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { CompactEncrypt, exportSPKI, generateKeyPair, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createJwtVerifier, type TokenVerifier } from "../../src/auth.js";
import { audience, createSigner, issuer, never, present, type Signer } from "../support/issuer.js";

let folder: string;
let signer: Signer;
let stranger: Signer;
let rsa: Signer;
let verifier: TokenVerifier<string>;
const reasons: string[] = [];
const claims = { iss: issuer, aud: audience, sub: "ada", exp: present / 1_000 + 3_600 };
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-hostile-"));
  [signer, stranger, rsa] = await Promise.all([createSigner(), createSigner(), createSigner("RS256", "rsa")]);
  const file = join(folder, "jwks.json");
  // A secret among the keys is never used: no algorithm that could use it is allowed.
  const secret = { kty: "oct", k: Buffer.from("secret").toString("base64url"), kid: "secret", alg: "HS256" };
  await writeFile(file, JSON.stringify({ keys: [signer.jwk, rsa.jwk, secret] }), { mode: 0o600 });
  verifier = await createJwtVerifier({
    issuer,
    audience,
    keys: { file },
    principal: ({ sub }) => String(sub),
    onRefused: (reason) => void reasons.push(reason),
    now: () => present,
  });
});
afterAll(() => rm(folder, { recursive: true }));

/** A token of these claims with a header and signature of its own. */
const forged = (header: object, signature = "AAAA"): string => `${encoded(header)}.${encoded(claims)}.${signature}`;

/** With an HMAC over its first two parts. */
function macced(header: object, key: string): string {
  const input = `${encoded(header)}.${encoded(claims)}`;
  return `${input}.${createHmac("sha256", key).update(input).digest("base64url")}`;
}

async function encrypted(): Promise<string> {
  const { publicKey } = await generateKeyPair("RSA-OAEP-256");
  const header = { alg: "RSA-OAEP-256", enc: "A256GCM", kid: "rsa" };
  return new CompactEncrypt(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).encrypt(publicKey);
}

interface Hostile {
  readonly name: string;
  readonly token: () => string | Promise<string>;
  /** What the log says; default: any code. */
  readonly reason?: string;
}
const notAllowed = "ERR_JOSE_ALG_NOT_ALLOWED";
const badClaim = "ERR_JWT_CLAIM_VALIDATION_FAILED";
const es256 = { alg: "ES256", kid: "one" };

const signatures: readonly Hostile[] = [
  { name: "no signature at all (alg none)", token: () => new UnsecuredJWT(claims).encode(), reason: "malformed" },
  { name: "alg none in another case", token: () => forged({ alg: "NoNe", kid: "one" }, ""), reason: "malformed" },
  { name: "alg none with a signature", token: () => forged({ alg: "none" }), reason: notAllowed },
  { name: "no alg", token: () => forged({ kid: "one" }) },
  { name: "alg of another type", token: () => forged({ alg: ["ES256"], kid: "one" }) },
  {
    name: "HS256 with the public key as PEM",
    token: async () => macced({ alg: "HS256", kid: "rsa" }, await exportSPKI(rsa.publicKey)),
    reason: notAllowed,
  },
  {
    name: "HS256 with the public key as JWK",
    token: () => macced({ alg: "HS256", kid: "one" }, JSON.stringify(signer.jwk)),
    reason: notAllowed,
  },
  {
    name: "HS256 with a secret of the set",
    token: () => macced({ alg: "HS256", kid: "secret" }, "secret"),
    reason: notAllowed,
  },
  { name: "a secret's name with another algorithm", token: () => forged({ alg: "ES256", kid: "secret" }) },
  { name: "an RSA algorithm for a key of a curve", token: () => forged({ alg: "RS256", kid: "one" }) },
  { name: "another curve", token: () => forged({ alg: "ES384", kid: "one" }) },
  {
    name: "a signature of zeros (as in CVE-2022-21449)",
    token: () => forged(es256, Buffer.alloc(64).toString("base64url")),
    reason: "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
  },
  {
    name: "a stranger's key under our key's name",
    token: () => stranger.sign(),
    reason: "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
  },
  {
    name: "a key name that is not known",
    token: () => stranger.sign({}, { kid: "two" }),
    reason: "ERR_JWKS_NO_MATCHING_KEY",
  },
  { name: "a key name that is a path", token: () => stranger.sign({}, { kid: "../../../../dev/null" }) },
  { name: "a key name of another type", token: () => stranger.sign({}, { kid: { toString: "one" } }) },
  { name: "its own key in the header", token: () => stranger.sign({}, { jwk: stranger.jwk }) },
  { name: "a place of its own for keys", token: () => stranger.sign({}, { jku: "http://127.0.0.1:1/", x5u: "x" }) },
  { name: "a critical member that nobody knows", token: () => forged({ ...es256, crit: ["exp2"], exp2: 1 }) },
  { name: "an unencoded payload", token: () => forged({ ...es256, crit: ["b64"], b64: false }) },
  {
    name: "other claims under a good signature",
    token: async () => exchangeClaims(await signer.sign(), { sub: "eve" }),
  },
  { name: "an encrypted token", token: encrypted },
];

function exchangeClaims(token: string, changed: object): string {
  const [header, , signature] = token.split(".");
  return [header, encoded({ ...claims, ...changed }), signature].join(".");
}

const without = (claim: string): Promise<string> => signer.sign(Object.fromEntries([[claim, undefined]]));

const contents: readonly Hostile[] = [
  {
    name: "another audience",
    token: () => signer.sign({ aud: "https://other.example" }),
    reason: `${badClaim} aud`,
  },
  { name: "an audience that begins alike", token: () => signer.sign({ aud: `${audience}/more` }) },
  { name: "an audience in another case", token: () => signer.sign({ aud: audience.toUpperCase() }) },
  { name: "no audience", token: () => without("aud"), reason: `${badClaim} aud` },
  { name: "an empty list of audiences", token: () => signer.sign({ aud: [] }), reason: `${badClaim} aud` },
  { name: "another issuer", token: () => signer.sign({ iss: "https://evil.example" }), reason: `${badClaim} iss` },
  { name: "an issuer with a slash more", token: () => signer.sign({ iss: `${issuer}/` }), reason: `${badClaim} iss` },
  { name: "no issuer", token: () => without("iss"), reason: `${badClaim} iss` },
  { name: "expired", token: () => signer.sign({ exp: present / 1_000 - 60 }), reason: "ERR_JWT_EXPIRED exp" },
  { name: "no expiry", token: () => without("exp"), reason: `${badClaim} exp` },
  { name: "an expiry that is a text", token: () => signer.sign(JSON.parse('{"exp":"9999999999"}')) },
  { name: "not good yet", token: () => signer.sign({ nbf: present / 1_000 + 60 }), reason: `${badClaim} nbf` },
];

const shapes: readonly Hostile[] = [
  { name: "no text", token: () => "" },
  { name: "dots alone", token: () => ".." },
  { name: "two parts", token: () => "a.b" },
  { name: "four parts", token: async () => `${await signer.sign()}.x` },
  { name: "a header that is an empty object", token: () => "e30.e30.AAAA" },
  { name: "a header that is no JSON", token: () => "AAAA.e30.AAAA" },
  { name: "a huge token of nothing", token: () => `${"A".repeat(1_000_000)}.${"A".repeat(1_000_000)}.AAAA` },
  { name: "not ASCII", token: async () => `${await signer.sign()}ü` },
  { name: "spaces around", token: async () => ` ${await signer.sign()} ` },
  { name: "padding", token: async () => `${await signer.sign()}==` },
  { name: "a token of a token file", token: () => `berth_${"A".repeat(43)}` },
];

describe("a token that is not the issuer's for this server is refused", () => {
  it("whereas one that is, is not", async () => {
    expect(await verifier.verify(await signer.sign(), never)).toMatchObject({ principal: "ada" });
    expect(await verifier.verify(await rsa.sign(), never)).toMatchObject({ principal: "ada" });
  });

  it.each([...signatures, ...contents, ...shapes])("$name", async ({ token, reason }) => {
    const text = await token();
    reasons.length = 0;
    expect(await verifier.verify(text, never)).toBeUndefined();
    expect(reasons).toEqual([reason ?? expect.stringMatching(/^(ERR_\w+|malformed)( \w+)?$/)]);
  });

  it("whatever character of it is another", async () => {
    const good = await signer.sign();
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.constantFrom(..."AZaz09-_.=~"), async (at, character) => {
        const changed = good.slice(0, at) + character + good.slice(at + 1);
        const found = await verifier.verify(changed, never);
        expect(found === undefined).toBe(changed !== good);
      }),
      { numRuns: 300 },
    );
  });
});
