import { createPublicKey, hash, type KeyObject, sign } from "node:crypto";
import type { Decision } from "./decide.js";
import type { Launch } from "./description.js";
import { AttestationError } from "./errors.js";
import type { Measurement } from "./measurement.js";
import { type Envelope, preAuthentication, type Statement, statementType } from "./verify.js";

/** What a statement is made of. */
export interface StatementFacts {
  readonly measurement: Measurement;
  readonly decision: Pick<Decision, "evidence" | "guard">;
  /** What was executed. */
  readonly launch: Launch;
  readonly timeMs: number;
}

/**
 * What was launched, as an in-toto Statement (v1). It holds names of variables, never their values, and a digest in
 * place of the arguments, which may be secret.
 */
export function createStatement({ measurement, decision, launch, timeMs }: StatementFacts): Statement {
  const { coverage, digest, executable, interpreter, target } = measurement;
  const [scheme = "", hex = ""] = digest.split(":");
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: coverage.root, digest: { [scheme]: hex } }],
    predicateType: "urn:berth:spawn-attestation:launch:v1",
    predicate: {
      evidence: decision.evidence,
      guard: decision.guard,
      executable,
      interpreter: interpreter === undefined ? null : withoutAnswer(interpreter),
      target: { path: target.path, inArgv: target.inArgv },
      coverage,
      argvDigest: `sha256:${hash("sha256", JSON.stringify([launch.argv0, ...launch.args]), "hex")}`,
      environmentNames: Object.keys(launch.env).sort(),
      cwd: launch.cwd,
      time: new Date(timeMs).toISOString(),
    },
  };
}

function withoutAnswer(
  interpreter: NonNullable<Measurement["interpreter"]>,
): NonNullable<Statement["predicate"]["interpreter"]> {
  const { family, kind, path, realPath, digest, parts } = interpreter;
  return { family, kind, path, realPath, digest, parts };
}

/**
 * Signs a statement with an Ed25519 private key, as a DSSE envelope.
 * @throws {AttestationError} `KEY_UNSUITABLE`
 */
export function signStatement(statement: Statement, privateKey: KeyObject, keyId?: string): Envelope {
  if (privateKey.type !== "private" || privateKey.asymmetricKeyType !== "ed25519") {
    const kind = `${privateKey.asymmetricKeyType ?? ""} ${privateKey.type}`.trim();
    throw new AttestationError(
      "KEY_UNSUITABLE",
      `statements are signed with an Ed25519 private key, not a ${kind} key`,
      {
        advice: "make one with crypto.generateKeyPairSync('ed25519') or openssl genpkey -algorithm ed25519",
      },
    );
  }
  const payload = Buffer.from(JSON.stringify(statement), "utf8");
  const signature = sign(null, preAuthentication(statementType, payload), privateKey);
  return {
    payloadType: statementType,
    payload: payload.toString("base64"),
    signatures: [{ keyid: keyId ?? keyIdOf(privateKey), sig: signature.toString("base64") }],
  };
}

/** SHA-256 of the raw public key, in hexadecimal. */
function keyIdOf(privateKey: KeyObject): string {
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  return hash("sha256", Buffer.from(x, "base64url"), "hex");
}
