import { AuthError } from "./errors.js";

export type Jose = typeof import("jose");
/** Finds the key for a token's header. */
export type KeyLookup = ReturnType<Jose["createLocalJWKSet"]>;

/**
 * Loaded when it is first needed, since it is optional.
 * @throws {AuthError} `PEER_MISSING`.
 */
export async function loadJose(): Promise<Jose> {
  try {
    return await import("jose");
  } catch (cause) {
    throw new AuthError("PEER_MISSING", 'verifying JWTs needs the package "jose": npm install jose', { cause });
  }
}

/**
 * A JSON Web Key Set (RFC 7517 § 5) as a lookup.
 * @throws {AuthError} `KEYS_INVALID`.
 */
export function readKeySet(jose: Jose, text: string, maxKeys: number): KeyLookup {
  let lookup: KeyLookup;
  try {
    lookup = jose.createLocalJWKSet(JSON.parse(text));
  } catch (cause) {
    // Without the parser's own text, which quotes what it has read.
    throw new AuthError("KEYS_INVALID", "there is no JSON Web Key Set (RFC 7517)", { cause });
  }
  const { length } = lookup.jwks().keys;
  if (length > maxKeys) throw new AuthError("KEYS_INVALID", `there are ${length} keys; ${maxKeys} is the limit`);
  return lookup;
}
