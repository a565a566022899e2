import type { AdmissionRefusal, Admitter } from "../http/admission.js";
import { type LimitRanges, limitReader } from "../limit-reader.js";
import { aFunction, anObject, checkOptions, isSomebody, type OptionKinds, optional, textsOf } from "../option-check.js";
import { tell } from "../tell.js";
import { type ChallengeParameters, formatChallenge } from "./challenge.js";
import { readCredential } from "./credential.js";
import { type AuthError, isAuthError, optionFault } from "./errors.js";
import { createResourceDocuments, type ProtectedResource } from "./resource-metadata.js";
import { createScopeCheck, readScopes } from "./scopes.js";
import { aVerifier, type TokenVerifier, type VerifiedToken } from "./verifier.js";

/** What bounds the reading of credentials. */
export interface BearerLimits {
  /** Longest token that is looked at, in bytes: 64 to 65_536. Default 8_192. Above: 401. */
  readonly maxTokenBytes?: number | undefined;
}
const ranges = {
  maxTokenBytes: { min: 64, max: 65_536, preset: 8_192 },
} as const satisfies LimitRanges<BearerLimits>;

/** What `createBearerAdmitter` accepts. */
export interface BearerOptions<P> {
  readonly verifier: TokenVerifier<P>;
  /** All of them are needed for any request. What single tools need is the authorizer's to say. Default: none. */
  readonly requiredScopes?: readonly string[] | undefined;
  /** Broader scopes, each with those that it stands for: `{ admin: ["read", "write"] }`. */
  readonly impliedScopes?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Published for clients that can fetch a token by themselves. Absent where tokens are handed out by people. */
  readonly metadata?: ProtectedResource | undefined;
  /** Told when a request was answered 503 because nobody could say whose its token is. */
  readonly onUnavailable?: ((error: AuthError) => void) | undefined;
  readonly limits?: BearerLimits | undefined;
}

/**
 * Lets in who has a bearer token in the `Authorization` header, and nobody else (RFC 6750, RFC 9728; MCP 2025-11-25 and 2026-07-28, Authorization).
 * Tokens in the query or the body are never read. Each refusal holds what a client needs to do better, and nothing of what it sent.
 * @throws {AuthError} `AUTH_OPTIONS_INVALID`.
 */
export function createBearerAdmitter<P>(options: BearerOptions<P>): Admitter<P> {
  checkOptions(options, bearerOptions, { fault: optionFault });
  const { verifier, metadata, onUnavailable } = options;
  const maxTokenBytes = limitReader(options.limits, ranges, optionFault)("maxTokenBytes");
  const required = readScopes("requiredScopes", options.requiredScopes);
  const suffices = createScopeCheck(required, options.impliedScopes);
  const published = metadata && createResourceDocuments(metadata, required);
  const challenge = (error?: ChallengeParameters["error"]): string =>
    formatChallenge({ error, scope: required.join(" "), resource_metadata: published?.url });
  const refusals = {
    none: { status: 401, challenge: challenge(), message: "A bearer token is needed" },
    several: { status: 400, challenge: challenge("invalid_request"), message: "One credential at a time" },
    malformed: { status: 401, challenge: challenge("invalid_token"), message: "The bearer token is not valid" },
    narrow: { status: 403, challenge: challenge("insufficient_scope"), message: "The bearer token lacks a scope" },
    unavailable: { status: 503, retryAfterSeconds, message: "Bearer tokens cannot be checked at the moment" },
  } as const satisfies Record<string, AdmissionRefusal>;

  return {
    documents: published?.documents,
    async admit(head, signal) {
      const credential = readCredential(head.header("authorization"), maxTokenBytes);
      if (credential.kind !== "token") return refusals[credential.kind];
      let verified: VerifiedToken<P> | undefined;
      try {
        verified = await verifier.verify(credential.token, signal);
      } catch (error) {
        if (!isAuthError(error) || error.code !== "KEYS_UNAVAILABLE") throw error;
        tell(onUnavailable, error);
        return refusals.unavailable;
      }
      if (verified === undefined || !isSomebody(verified.principal)) return refusals.malformed;
      return suffices(verified.scopes) ? { principal: verified.principal } : refusals.narrow;
    },
  };
}

const bearerOptions = {
  verifier: aVerifier,
  requiredScopes: optional(textsOf("scopes")),
  impliedScopes: optional(anObject),
  metadata: optional(anObject),
  onUnavailable: optional(aFunction),
  limits: optional(anObject),
} as const satisfies OptionKinds<BearerOptions<unknown>>;
/** What `retryMs` of the verifiers is by default. */
const retryAfterSeconds = 5;
