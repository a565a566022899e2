import { execFileSync } from "node:child_process";
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify as verifyBare,
} from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { createStatement, type Envelope, type Measurement, signStatement } from "../src/index.js";
import { preAuthentication, verifyStatement } from "../src/verify.js";
import { testFolder } from "./support/folder.js";
import { runs } from "./support/soak.js";

/** A part of the system, not of the workspace. */
const openssl = "openssl";

const hex = (digit: string): string => digit.repeat(64);
const launch = {
  file: "/x/node",
  argv0: "node",
  args: ["s.js", "--token=s3cret", "ünï"],
  env: { B: "s3cret", A: "1" },
  cwd: "/x",
};
const measurement: Measurement = {
  digest: `tree-v1:${hex("a")}`,
  launch,
  executable: { path: "/x/node", realPath: "/opt/node", digest: `sha256:${hex("1")}` },
  interpreter: {
    family: "node",
    kind: "program",
    path: "/x/node",
    realPath: "/opt/node",
    digest: `sha256:${hex("1")}`,
    parts: [],
  },
  target: { path: "/x/s.js", argument: "s.js", inArgv: true },
  coverage: { scope: "tree", root: "/x", ignore: ["data"], leavesOut: ["hoisted-modules:/node_modules"] },
  guard: "recheck",
  files: 1,
  bytes: 1,
  warnings: [],
};
const statement = createStatement({
  measurement,
  decision: { evidence: "spawn-measured", guard: "recheck" },
  launch,
  timeMs: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
});

interface Keys {
  readonly privateKey: KeyObject;
  readonly raw: Uint8Array;
}

function makeKeys(): Keys {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return { privateKey, raw: rawOf(publicKey) };
}

const rawOf = (key: KeyObject): Uint8Array => Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");

describe("a statement", () => {
  it("is an in-toto Statement v1 that says what was launched", () => {
    expect(statement).toEqual({
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ name: "/x", digest: { "tree-v1": hex("a") } }],
      predicateType: "urn:berth:spawn-attestation:launch:v1",
      predicate: {
        evidence: "spawn-measured",
        guard: "recheck",
        executable: measurement.executable,
        interpreter: measurement.interpreter,
        target: { path: "/x/s.js", inArgv: true },
        coverage: measurement.coverage,
        argvDigest: `sha256:${createHash("sha256").update('["node","s.js","--token=s3cret","ünï"]').digest("hex")}`,
        environmentNames: ["A", "B"],
        cwd: "/x",
        time: "2026-01-02T03:04:05.006Z",
      },
    });
  });

  it("holds neither arguments nor values of the environment", () => {
    expect(JSON.stringify(statement)).not.toContain("s3cret");
  });

  it("of a file has a sha256 subject, and no interpreter where there is none", () => {
    const { interpreter: _, ...own } = { ...measurement, digest: `sha256:${hex("b")}` };
    const about = createStatement({
      measurement: own,
      decision: { evidence: "spawn-measured", guard: "none" },
      launch,
      timeMs: 0,
    });
    expect(about.subject[0]?.digest).toEqual({ sha256: hex("b") });
    expect(about.predicate.interpreter).toBeNull();
  });
});

describe("a signed statement", () => {
  it("is verified by its key, also after a way through JSON", async () => {
    const { privateKey, raw } = makeKeys();
    const envelope: unknown = JSON.parse(JSON.stringify(signStatement(statement, privateKey)));
    expect(await verifyStatement(envelope, { keys: [makeKeys().raw, raw] })).toEqual({
      ok: true,
      statement,
      keyIndex: 1,
    });
  });

  it("is verified by bare node:crypto, with nothing of this package", () => {
    const { privateKey } = makeKeys();
    const envelope = signStatement(statement, privateKey);
    const payload = Buffer.from(envelope.payload, "base64");
    const signed = Buffer.concat([Buffer.from(`DSSEv1 28 application/vnd.in-toto+json ${payload.length} `), payload]);
    const signature = Buffer.from(envelope.signatures[0]?.sig ?? "", "base64");
    expect(verifyBare(null, signed, createPublicKey(privateKey), signature)).toBe(true);
    expect(envelope.signatures[0]?.keyid).toBe(
      createHash("sha256")
        .update(rawOf(createPublicKey(privateKey)))
        .digest("hex"),
    );
  });

  partTest("openssl")("is verified by openssl", () => {
    const folder = testFolder();
    const { privateKey } = makeKeys();
    const envelope = signStatement(statement, privateKey);
    const payload = Buffer.from(envelope.payload, "base64");
    writeFileSync(join(folder, "key.pem"), createPublicKey(privateKey).export({ type: "spki", format: "pem" }));
    writeFileSync(
      join(folder, "signed"),
      Buffer.concat([Buffer.from(`DSSEv1 28 ${envelope.payloadType} ${payload.length} `), payload]),
    );
    writeFileSync(join(folder, "signature"), Buffer.from(envelope.signatures[0]?.sig ?? "", "base64"));
    const args = [
      "pkeyutl",
      "-verify",
      "-pubin",
      "-inkey",
      "key.pem",
      "-rawin",
      "-in",
      "signed",
      "-sigfile",
      "signature",
    ];
    expect(execFileSync(openssl, args, { cwd: folder, encoding: "utf8" })).toContain("Verified Successfully");
  });

  it("follows the published test vector of DSSE's encoding", () => {
    // https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md § Test Vectors
    const encoded = preAuthentication("http://example.com/HelloWorld", new TextEncoder().encode("hello world"));
    expect(Buffer.from(encoded).toString()).toBe("DSSEv1 29 http://example.com/HelloWorld 11 hello world");
  });

  it("is signed only with an Ed25519 private key", () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    for (const key of [privateKey, publicKey, createPublicKey(makeKeys().privateKey)]) {
      expect(() => signStatement(statement, key)).toThrow(expect.objectContaining({ code: "KEY_UNSUITABLE" }));
    }
  });
});

describe("verifyStatement", () => {
  const keys = makeKeys();
  const envelope = signStatement(statement, keys.privateKey);
  const verify = (value: unknown): ReturnType<typeof verifyStatement> => verifyStatement(value, { keys: [keys.raw] });

  /** Signed by the right key, whatever it is. */
  function signed(payload: string | Buffer): Envelope {
    const bytes = Buffer.from(payload);
    const message = Buffer.concat([Buffer.from(`DSSEv1 28 ${envelope.payloadType} ${bytes.length} `), bytes]);
    const sig = sign(null, message, keys.privateKey).toString("base64");
    return { ...envelope, payload: bytes.toString("base64"), signatures: [{ keyid: "", sig }] };
  }

  it.each([
    { name: "nothing", value: undefined },
    { name: "a text", value: "envelope" },
    { name: "a list", value: [] },
    { name: "no signatures", value: { payloadType: envelope.payloadType, payload: envelope.payload } },
    { name: "signatures of another kind", value: { ...envelope, signatures: ["x"] } },
    { name: "a payload that is no base64", value: { ...envelope, payload: "***" } },
    {
      name: "more signatures than anybody makes",
      value: { ...envelope, signatures: Array.from({ length: 17 }, () => envelope.signatures[0]) },
    },
    { name: "an endless payload", value: { ...envelope, payload: "A".repeat(5 * 1024 * 1024) } },
  ])("says of $name that it is no envelope", async ({ value }) => {
    expect(await verify(value)).toMatchObject({ ok: false, problem: "ENVELOPE_MALFORMED" });
  });

  it.each([
    { name: "no signature at all", value: { ...envelope, signatures: [] } },
    {
      name: "another payload",
      value: { ...envelope, payload: Buffer.from(JSON.stringify({ ...statement, subject: [] })).toString("base64") },
    },
    { name: "a signature of another length", value: { ...envelope, signatures: [{ keyid: "", sig: "AAAA" }] } },
    { name: "another key's signature", value: signStatement(statement, makeKeys().privateKey) },
  ])("does not trust $name", async ({ value }) => {
    expect(await verify(value)).toMatchObject({ ok: false, problem: "NOT_SIGNED_BY_KEY" });
  });

  it("does not trust another payload type, although the signature covers it", async () => {
    expect(await verify({ ...envelope, payloadType: "application/json" })).toMatchObject({
      ok: false,
      problem: "PAYLOAD_TYPE_UNKNOWN",
    });
  });

  it.each([
    { name: "no JSON", payload: "{" },
    { name: "no UTF-8", payload: Buffer.from([0xff, 0xfe]) },
    {
      name: "another type of statement",
      payload: JSON.stringify({ ...statement, _type: "https://in-toto.io/Statement/v0.1" }),
    },
    {
      name: "another predicate",
      payload: JSON.stringify({ ...statement, predicateType: "https://slsa.dev/provenance/v1" }),
    },
    { name: "no subject", payload: JSON.stringify({ ...statement, subject: [] }) },
    {
      name: "an evidence class of its own",
      payload: JSON.stringify({ ...statement, predicate: { ...statement.predicate, evidence: "trusted" } }),
    },
    {
      name: "a predicate without a time",
      payload: JSON.stringify({ ...statement, predicate: { ...statement.predicate, time: undefined } }),
    },
  ])("says of $name, rightly signed, that it is no launch statement", async ({ payload }) => {
    expect(await verify(signed(payload))).toMatchObject({ ok: false, problem: "STATEMENT_MALFORMED" });
  });

  it("fails when any bit of payload or signature is another", async () => {
    const flip = (text: string, at: number): string => {
      const bytes = Buffer.from(text, "base64");
      const place = at % bytes.length;
      bytes[place] = (bytes[place] ?? 0) ^ (1 << (at % 8));
      return bytes.toString("base64");
    };
    const [first] = envelope.signatures;
    await fc.assert(
      fc.asyncProperty(fc.nat(100_000), fc.boolean(), async (at, inPayload) => {
        const changed = inPayload
          ? { ...envelope, payload: flip(envelope.payload, at) }
          : { ...envelope, signatures: [{ keyid: "", sig: flip(first?.sig ?? "", at) }] };
        expect((await verify(changed)).ok).toBe(false);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it("never throws, whatever the envelope is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (value) => {
        expect((await verify(value)).ok).toBe(false);
      }),
      { numRuns: runs(10_000) },
    );
  });

  it("uses the check that is passed in, for places without WebCrypto", async () => {
    const asked: number[] = [];
    const report = await verifyStatement(envelope, {
      keys: [keys.raw],
      verifySignature: (key, message, signature) => {
        asked.push(key.length, signature.length);
        const pem = createPublicKey({
          key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(key).toString("base64url") },
          format: "jwk",
        });
        return verifyBare(null, message, pem, signature);
      },
    });
    expect(report.ok).toBe(true);
    expect(asked).toEqual([32, 64]);
  });

  it("refuses a key of another length as a mistake of the caller", async () => {
    await expect(verifyStatement(envelope, { keys: [new Uint8Array(31)] })).rejects.toThrow(RangeError);
  });

  it("imports nothing: neither the rest of the package nor Node", () => {
    const source = readFileSync(new URL("../src/verify.ts", import.meta.url), "utf8");
    expect(source).not.toMatch(/^import |\bimport\(|\brequire\(|node:/m);
  });
});
