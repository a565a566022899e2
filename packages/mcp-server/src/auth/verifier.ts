import { checkOptions, having, type OptionKind } from "../option-check.js";
import { isAuthError, optionFault } from "./errors.js";

/** A verifier of ours, or of anybody else. */
export const aVerifier: OptionKind = having(["verify"], "a TokenVerifier, as openTokenFile and createJwtVerifier make");

/** Whose a token is. */
export interface VerifiedToken<P> {
  readonly principal: P;
  readonly scopes: readonly string[];
}

/** Says whose a token is. */
export interface TokenVerifier<P> {
  /**
   * Undefined for every token that is not good: unknown, expired, for somebody else.
   * @throws {AuthError} `KEYS_UNAVAILABLE` when it cannot be said now: the client may come back. Anything else that is thrown is a fault of the server.
   */
  verify(token: string, signal: AbortSignal): VerifiedToken<P> | undefined | Promise<VerifiedToken<P> | undefined>;
}

/**
 * Asks one after another, until one knows the token. When none does and one could not say, nor can this.
 * @throws {AuthError} `AUTH_OPTIONS_INVALID` for what is no verifier. `verify` rejects with what a verifier throws that is not `KEYS_UNAVAILABLE`, at once.
 */
export function firstOf<P>(...verifiers: readonly TokenVerifier<P>[]): TokenVerifier<P> {
  for (const [at, verifier] of verifiers.entries()) {
    const name = `firstOf: verifier ${at + 1}`;
    checkOptions({ [name]: verifier }, { [name]: aVerifier }, { fault: optionFault });
  }
  return {
    async verify(token, signal) {
      let unavailable: unknown;
      for (const verifier of verifiers) {
        try {
          const found = await verifier.verify(token, signal);
          if (found !== undefined) return found;
        } catch (error) {
          if (!isAuthError(error) || error.code !== "KEYS_UNAVAILABLE") throw error;
          unavailable = error;
        }
      }
      if (unavailable !== undefined) throw unavailable;
      return undefined;
    },
  };
}
