import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { isObject } from "../json.js";
import {
  aFunction,
  anObject,
  aText,
  checkOptions,
  kind,
  type OptionKinds,
  optional,
  textsOf,
} from "../option-check.js";
import { tell } from "../tell.js";
import { optionFault } from "./errors.js";
import { type Jose, loadJose } from "./jose.js";
import { type JwtLimits, readJwtBounds } from "./jwt-limits.js";
import { checkKeyLocation, type KeyLocation, type KeySource, openKeySource } from "./key-source.js";
import type { TokenVerifier } from "./verifier.js";

/** Signatures that JWTs may have (RFC 7518 § 3.1, RFC 8037, RFC 9864): with these whoever checks cannot sign. */
export type JwtAlgorithm = (typeof algorithms)[number];
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

/** What a JWT says, once its signature, issuer, audience and times have been checked. */
export type JwtClaims = JsonObject;

/** What `createJwtVerifier` accepts. */
export interface JwtOptions<P> {
  /** What `iss` has to be, to the letter. For several issuers make several verifiers (`firstOf`): the keys of one must not speak for another. */
  readonly issuer: string;
  /** What `aud` has to hold: this server's own address (RFC 8707 § 2), or one of them where it has several. A token for anybody else is not good here. */
  readonly audience: string | readonly string[];
  readonly keys: KeyLocation;
  /** Default: all. */
  readonly algorithms?: readonly JwtAlgorithm[] | undefined;
  /** What the `typ` header has to be, such as `at+jwt` (RFC 9068 § 4) where the issuer sets it. Default: anything. */
  readonly tokenType?: string | undefined;
  /** Who somebody with these claims is; undefined or null: nobody, and the token is refused. */
  readonly principal: (claims: JwtClaims) => P | null | undefined | Promise<P | null | undefined>;
  /** Told why a token was refused, for logs: a code, as `malformed`, `ERR_JWT_EXPIRED exp` or `ERR_JWT_CLAIM_VALIDATION_FAILED aud`. Nothing of the token. */
  readonly onRefused?: ((reason: string) => void) | undefined;
  /** Told when keys cannot be fetched or read again. */
  readonly onKeysError?: ((error: unknown) => void) | undefined;
  readonly limits?: JwtLimits | undefined;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Knows the JWTs of one issuer for this server (RFC 7519, RFC 9068, RFC 8725). `exp` has to be there. Needs the package `jose`. A token that names no key
 * while several would do is refused (OpenID Connect Core § 10.1).
 * @throws {AuthError} `PEER_MISSING`, `AUTH_OPTIONS_INVALID`; for keys in a file `FILE_UNREADABLE`, `FILE_MODE`, `KEYS_INVALID`.
 */
export async function createJwtVerifier<P>(options: JwtOptions<P>): Promise<TokenVerifier<P>> {
  checkOptions(options, jwtOptions, { fault: optionFault });
  checkKeyLocation(options.keys);
  const { issuer, tokenType, principal, onRefused, onKeysError, now = Date.now } = options;
  const bounds = readJwtBounds(options.limits);
  const allowed = readAlgorithms(options.algorithms);
  const jose = await loadJose();
  const keys = await openKeySource(options.keys, { jose, bounds, now, onKeysError });
  const expected = {
    issuer,
    audience: [options.audience].flat(),
    algorithms: allowed,
    requiredClaims: ["exp"],
    clockTolerance: Math.floor(bounds.clockToleranceMs / 1_000),
    ...(tokenType !== undefined && { typ: tokenType }),
  };
  return {
    async verify(token, signal) {
      if (!isCompact(token)) {
        tell(onRefused, "malformed");
        return undefined;
      }
      const find = createKeyFinder(jose, keys, signal);
      let claims: unknown;
      try {
        claims = (await jose.jwtVerify(token, find.key, { ...expected, currentDate: new Date(now()) })).payload;
      } catch (error) {
        signal.throwIfAborted();
        if (find.fault !== undefined) throw find.fault.error;
        tell(onRefused, reasonOf(error));
        return undefined;
      }
      if (!isObject(claims)) return undefined;
      const found = await principal(claims);
      if (found !== undefined && found !== null) return { principal: found, scopes: scopesOf(claims) };
      tell(onRefused, "no principal");
      return undefined;
    },
  };
}

// An issuer or an audience that is absent would not be checked at all.
const jwtOptions = {
  issuer: kind("one text that is not empty; for several issuers make several verifiers (firstOf)", aText.fits),
  audience: kind("a text that is not empty, or a list of some", isAudience),
  keys: anObject,
  algorithms: optional(textsOf("algorithms")),
  tokenType: optional(aText),
  principal: aFunction,
  onRefused: optional(aFunction),
  onKeysError: optional(aFunction),
  limits: optional(anObject),
  now: optional(aFunction),
} as const satisfies OptionKinds<JwtOptions<unknown>>;

function isAudience(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 && value.every(aText.fits) : aText.fits(value);
}

/**
 * Three parts in base64url, the last of them as its bytes would be written: no padding, no spare bits (RFC 7515 §§ 2, 3.1). The first two are what is
 * signed, so each token is one text, and nobody gets past a list of revoked ones by writing it otherwise.
 */
function isCompact(token: string): boolean {
  const [, signature] = /^[\w-]+\.[\w-]+\.([\w-]+)$/.exec(token) ?? [];
  return signature !== undefined && Buffer.from(signature, "base64url").toString("base64url") === signature;
}

interface KeyFinder {
  readonly key: (...asked: Parameters<KeyLookupFunction>) => ReturnType<KeyLookupFunction>;
  /** What kept keys from being had: a fault of no token. */
  readonly fault: { readonly error: unknown } | undefined;
}
type KeyLookupFunction = Awaited<ReturnType<KeySource["current"]>>;

/** Asks for newer keys once when the token names one that is not known. */
function createKeyFinder(jose: Jose, keys: KeySource, signal: AbortSignal): KeyFinder {
  let fault: KeyFinder["fault"];
  const orFault = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      fault = { error };
      throw error;
    }
  };
  return {
    async key(...asked) {
      const known = await orFault(keys.current(signal));
      try {
        return await known(...asked);
      } catch (error) {
        if (!(error instanceof jose.errors.JWKSNoMatchingKey)) throw error;
        const newer = await orFault(keys.newerThan(known, signal));
        if (newer === undefined) throw error;
        return newer(...asked);
      }
    },
    get fault() {
      return fault;
    },
  };
}

/** With a symmetric algorithm the public key would be the secret, and `none` is no signature (RFC 8725 §§ 2.1, 3.1). */
function readAlgorithms(given: readonly JwtAlgorithm[] | undefined): JwtAlgorithm[] {
  const chosen = [...(given ?? algorithms)];
  if (chosen.length === 0) optionFault("algorithms is empty");
  for (const name of chosen) {
    if (!algorithms.includes(name))
      optionFault(`algorithms has ${JSON.stringify(name.slice(0, 40))}; there are ${algorithms.join(", ")}`);
  }
  return chosen;
}

/** `scope` is a text with spaces (RFC 8693 § 4.2, RFC 9068 § 2.2.3); some issuers send a list, or name it `scp`. */
function scopesOf(claims: JwtClaims): readonly string[] {
  const given: JsonValue | undefined = claims["scope"] ?? claims["scp"];
  if (typeof given === "string") return given.split(" ").filter((scope) => scope !== "");
  return Array.isArray(given) ? given.filter((scope) => typeof scope === "string") : [];
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  // `claim` is one of the names that were asked for, so nothing of the token.
  return "claim" in error && typeof error.claim === "string" ? `${code} ${error.claim}` : code;
}
