/** An in-toto Statement (v1) about one launch. Plain JSON. */
export interface Statement {
  readonly _type: "https://in-toto.io/Statement/v1";
  /** What was measured: its path, and its digest under `sha256` (a file) or `tree-v1` (a folder). */
  readonly subject: readonly { readonly name: string; readonly digest: Readonly<Record<string, string>> }[];
  readonly predicateType: "urn:berth:spawn-attestation:launch:v1";
  readonly predicate: LaunchPredicate;
}

/** What was launched. */
export interface LaunchPredicate {
  readonly evidence: "spawn-measured" | "spawn-unmeasured";
  readonly guard: "recheck" | "snapshot" | "none";
  readonly executable: { readonly path: string; readonly realPath: string; readonly digest: string };
  /** Null when the executable is its own target. */
  readonly interpreter: {
    readonly family: string;
    readonly kind: string;
    readonly path: string;
    readonly realPath: string;
    readonly digest: string;
    readonly parts: readonly { readonly path: string; readonly digest: string }[];
  } | null;
  readonly target: { readonly path: string; readonly inArgv: boolean };
  readonly coverage: {
    readonly scope: "file" | "tree";
    readonly root: string;
    readonly ignore: readonly string[];
    readonly leavesOut: readonly string[];
  };
  /** `sha256:` of the UTF-8 bytes of the JSON array `[argv0, ...args]` as it was executed, without white space. */
  readonly argvDigest: string;
  readonly environmentNames: readonly string[];
  readonly cwd: string;
  /** RFC 3339, UTC. */
  readonly time: string;
}

/** A DSSE envelope (secure-systems-lab/dsse, v1.0). */
export interface Envelope {
  readonly payloadType: string;
  /** Base64 of the statement's JSON. */
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}

/** The `payloadType` of in-toto statements. */
export const statementType = "application/vnd.in-toto+json";

/** Checks one Ed25519 signature (RFC 8032): 32 bytes of key, 64 of signature. */
export type VerifySignature = (
  key: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>;

/** What a verifier trusts. */
export interface VerifyOptions {
  /** Raw Ed25519 public keys of 32 bytes; the envelope holds if one of them made one of its signatures. */
  readonly keys: readonly Uint8Array[];
  /** Default: WebCrypto, of which Node 20 and 22 say that it is experimental for Ed25519. */
  readonly verifySignature?: VerifySignature | undefined;
}

/** The statement, or why there is none to trust. */
export type VerifyReport =
  | { readonly ok: true; readonly statement: Statement /** Which of `keys`. */; readonly keyIndex: number }
  | { readonly ok: false; readonly problem: VerifyProblem; readonly message: string };

/** Why an envelope is not trusted. */
export type VerifyProblem = "ENVELOPE_MALFORMED" | "PAYLOAD_TYPE_UNKNOWN" | "NOT_SIGNED_BY_KEY" | "STATEMENT_MALFORMED";

const maxPayloadLength = 4 * 1024 * 1024;
const maxSignatures = 16;

/**
 * Verifies an envelope that was read from JSON. The signature comes first: nothing of the payload is read before one of
 * the keys holds for it. Never throws for what the envelope says. Imports nothing: works in browsers.
 */
export async function verifyStatement(envelope: unknown, options: VerifyOptions): Promise<VerifyReport> {
  const read = readEnvelope(envelope);
  if (read === undefined) return problem("ENVELOPE_MALFORMED", "this is no DSSE envelope");
  if (read.payloadType !== statementType) {
    return problem("PAYLOAD_TYPE_UNKNOWN", `the payload type is not ${statementType}`);
  }
  const keyIndex = await signerOf(read, options);
  if (keyIndex === undefined) return problem("NOT_SIGNED_BY_KEY", "no signature is by one of the keys");
  const statement = readStatement(read.payload);
  if (statement === undefined) return problem("STATEMENT_MALFORMED", "what was signed is no launch statement");
  return { ok: true, statement, keyIndex };
}

/** The bytes that a DSSE signature is over (Pre-Authentication Encoding). */
export function preAuthentication(payloadType: string, payload: Uint8Array): Uint8Array {
  const encoder = new TextEncoder();
  const type = encoder.encode(payloadType);
  const head = encoder.encode(`DSSEv1 ${type.length} ${payloadType} ${payload.length} `);
  const whole = new Uint8Array(head.length + payload.length);
  whole.set(head);
  whole.set(payload, head.length);
  return whole;
}

interface ReadEnvelope {
  readonly payloadType: string;
  readonly payload: Uint8Array;
  readonly signatures: readonly Uint8Array[];
}

function readEnvelope(envelope: unknown): ReadEnvelope | undefined {
  if (!isRecord(envelope)) return undefined;
  const { payloadType, payload, signatures } = envelope;
  if (typeof payloadType !== "string" || typeof payload !== "string" || !Array.isArray(signatures)) return undefined;
  if (payload.length > maxPayloadLength || signatures.length > maxSignatures) return undefined;
  const bytes = readBase64(payload);
  const signed = signatures.map((each: unknown) =>
    isRecord(each) && typeof each["sig"] === "string" ? readBase64(each["sig"]) : undefined,
  );
  if (bytes === undefined || signed.some((each) => each === undefined)) return undefined;
  return { payloadType, payload: bytes, signatures: signed.filter((each) => each !== undefined) };
}

/** Standard or URL-safe alphabet, as DSSE allows both. */
function readBase64(text: string): Uint8Array | undefined {
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(standard)) return undefined;
  try {
    return Uint8Array.from(atob(standard), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

async function signerOf(
  { payloadType, payload, signatures }: ReadEnvelope,
  options: VerifyOptions,
): Promise<number | undefined> {
  const { keys, verifySignature = verifyByWebCrypto } = options;
  const message = preAuthentication(payloadType, payload);
  for (const [index, key] of keys.entries()) {
    if (key.length !== 32) throw new RangeError(`an Ed25519 public key has 32 bytes, not ${key.length}`);
    for (const signature of signatures) {
      if (signature.length === 64 && (await verifySignature(key, message, signature))) return index;
    }
  }
  return undefined;
}

async function verifyByWebCrypto(key: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const { subtle } = globalThis.crypto;
  const imported = await subtle.importKey("raw", Uint8Array.from(key), "Ed25519", false, ["verify"]);
  return subtle.verify("Ed25519", imported, Uint8Array.from(signature), Uint8Array.from(message));
}

function readStatement(payload: Uint8Array): Statement | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
    return isStatement(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isStatement(value: unknown): value is Statement {
  if (!isRecord(value) || value["_type"] !== "https://in-toto.io/Statement/v1") return false;
  if (value["predicateType"] !== "urn:berth:spawn-attestation:launch:v1") return false;
  const { subject, predicate } = value;
  return Array.isArray(subject) && subject.length > 0 && subject.every(isSubject) && isPredicate(predicate);
}

function isSubject(value: unknown): boolean {
  return (
    isRecord(value) &&
    isText(value["name"]) &&
    isRecord(value["digest"]) &&
    Object.values(value["digest"]).every(isText)
  );
}

function isPredicate(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { evidence, guard, executable, interpreter, target, coverage, environmentNames } = value;
  return (
    (evidence === "spawn-measured" || evidence === "spawn-unmeasured") &&
    (guard === "recheck" || guard === "snapshot" || guard === "none") &&
    hasTexts(executable, ["path", "realPath", "digest"]) &&
    (interpreter === null || isInterpreter(interpreter)) &&
    hasTexts(target, ["path"]) &&
    isRecord(target) &&
    typeof target["inArgv"] === "boolean" &&
    isCoverage(coverage) &&
    isTexts(environmentNames) &&
    hasTexts(value, ["argvDigest", "cwd", "time"])
  );
}

function isInterpreter(value: unknown): boolean {
  if (!hasTexts(value, ["family", "kind", "path", "realPath", "digest"]) || !isRecord(value)) return false;
  const { parts } = value;
  return Array.isArray(parts) && parts.every((part: unknown) => hasTexts(part, ["path", "digest"]));
}

function isCoverage(value: unknown): boolean {
  if (!isRecord(value) || !isText(value["root"])) return false;
  const known = value["scope"] === "file" || value["scope"] === "tree";
  return known && isTexts(value["ignore"]) && isTexts(value["leavesOut"]);
}

function hasTexts(value: unknown, keys: readonly string[]): boolean {
  return isRecord(value) && keys.every((key) => isText(value[key]));
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function problem(code: VerifyProblem, message: string): VerifyReport {
  return { ok: false, problem: code, message };
}
