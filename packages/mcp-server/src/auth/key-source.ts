import { aText, checkOptions } from "../option-check.js";
import { AuthError, optionFault } from "./errors.js";
import { openFreshFile } from "./fresh-file.js";
import { type Jose, type KeyLookup, readKeySet } from "./jose.js";
import type { JwtBounds } from "./jwt-limits.js";
import { createRemoteKeys } from "./remote-keys.js";
import { readAddress } from "./web-address.js";

/** Where the issuer's keys are: a JSON Web Key Set in a file that only its owner may write, or at an address (https, or http on loopback). */
export type KeyLocation = { readonly file: string } | { readonly url: string };

/** The issuer's keys, as they are known now. */
export interface KeySource {
  /** @throws {AuthError} `KEYS_UNAVAILABLE`. */
  current(signal: AbortSignal): Promise<KeyLookup>;
  /**
   * For a token whose key `known` lacks; undefined when nothing newer is to be had.
   * @throws {AuthError} `KEYS_UNAVAILABLE` when it cannot be said whether there is.
   */
  newerThan(known: KeyLookup, signal: AbortSignal): Promise<KeyLookup | undefined>;
}

export interface KeySourceOptions {
  readonly jose: Jose;
  readonly bounds: JwtBounds;
  readonly now: () => number;
  readonly onKeysError: ((error: unknown) => void) | undefined;
}

/**
 * Before anything is loaded or read.
 * @throws {AuthError} `AUTH_OPTIONS_INVALID`.
 */
export function checkKeyLocation(location: KeyLocation): void {
  const isRemote = "url" in location;
  if (isRemote === "file" in location) optionFault("keys has to have either a file or a url");
  checkOptions(location, isRemote ? { url: aText } : { file: aText }, { of: "keys", fault: optionFault });
  if (isRemote) readAddress("keys.url", location.url, { query: true });
}

/** @throws {AuthError} what is wrong with the file; addresses are not asked yet. */
export async function openKeySource(location: KeyLocation, options: KeySourceOptions): Promise<KeySource> {
  if ("url" in location) return createRemoteKeys(location.url, options);
  const { jose, bounds, now, onKeysError } = options;
  const file = await openFreshFile({
    path: location.file,
    maxBytes: bounds.maxKeySetBytes,
    recheckMs: fileRecheckMs,
    now,
    onReloadError: onKeysError,
    parse: (text) => {
      try {
        return readKeySet(jose, text, bounds.maxKeys);
      } catch (error) {
        if (!(error instanceof AuthError)) throw error;
        throw new AuthError(error.code, `${location.file}: ${error.message}`, { cause: error.cause });
      }
    },
  });
  return {
    current: (signal) => file.current(signal),
    async newerThan(known, signal) {
      const keys = await file.current(signal);
      return keys === known ? undefined : keys;
    },
  };
}
const fileRecheckMs = 1_000;
