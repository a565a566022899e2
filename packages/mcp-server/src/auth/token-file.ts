import { createHmac, randomBytes } from "node:crypto";
import { type LimitRanges, limitReader } from "../limit-reader.js";
import { aFunction, anObject, aText, checkOptions, type OptionKinds, optional } from "../option-check.js";
import { optionFault } from "./errors.js";
import { openFreshFile } from "./fresh-file.js";
import { hashToken, isOwnToken, readTokenLines, type TokenEntry } from "./token-line.js";
import type { TokenVerifier } from "./verifier.js";

/** What bounds a token file. */
export interface TokenFileLimits {
  /** 1_024 to 67_108_864. Default 1 MiB. */
  readonly maxFileBytes?: number | undefined;
  /** 1 to 1_000_000. Default 10_000. */
  readonly maxTokens?: number | undefined;
  /** How old what is known of the file may be, in milliseconds: 100 to 3_600_000. Default 1_000. So long a removed token may still be good. */
  readonly recheckMs?: number | undefined;
}
const ranges = {
  maxFileBytes: { min: 1_024, max: 67_108_864, preset: 1_048_576 },
  maxTokens: { min: 1, max: 1_000_000, preset: 10_000 },
  recheckMs: { min: 100, max: 3_600_000, preset: 1_000 },
} as const satisfies LimitRanges<TokenFileLimits>;

/** What `openTokenFile` accepts. */
export interface TokenFileOptions<P> {
  /** Lines of `createToken`. Neither group nor others may write to it; that others may read it lets nobody in, since hashes are all it holds. */
  readonly path: string;
  /** Who somebody with this token is; undefined or null: nobody, and the token is refused. */
  readonly principal: (entry: TokenEntry) => P | null | undefined | Promise<P | null | undefined>;
  /** Told when the file has changed and cannot be used: the tokens of before go on to count. Once for each reason. */
  readonly onReloadError?: ((error: unknown) => void) | undefined;
  readonly limits?: TokenFileLimits | undefined;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Knows the tokens whose hashes are in a file. Changes of the file count within `recheckMs`; replace it by renaming, so that it is never seen half
 * written. A file that is gone or not valid revokes nothing: `onReloadError` is told.
 * @throws {AuthError} `FILE_UNREADABLE`, `FILE_MODE`, `TOKEN_FILE_INVALID` (naming the line), `AUTH_OPTIONS_INVALID`.
 */
export async function openTokenFile<P>(options: TokenFileOptions<P>): Promise<TokenVerifier<P>> {
  checkOptions(options, tokenFileOptions, { fault: optionFault });
  const { path, principal, onReloadError, now = Date.now } = options;
  const limit = limitReader(options.limits, ranges, optionFault);
  const maxTokens = limit("maxTokens");
  // Entries are found by a keyed hash: how long it takes to find one tells nothing that its asker could use, since nobody knows the key.
  const key = randomBytes(32);
  const blind = (sha256: string): string => createHmac("sha256", key).update(sha256).digest("base64");
  const file = await openFreshFile({
    path,
    now,
    onReloadError,
    maxBytes: limit("maxFileBytes"),
    recheckMs: limit("recheckMs"),
    parse: (text) => new Map(readTokenLines(text, maxTokens).map((entry) => [blind(entry.sha256), entry])),
  });
  return {
    async verify(token, signal) {
      if (!isOwnToken(token)) return undefined;
      const entries = await file.current(signal);
      const entry = entries.get(blind(hashToken(token)));
      if (entry === undefined || (entry.expiresAt !== undefined && entry.expiresAt <= now())) return undefined;
      const found = await principal(entry);
      return found === undefined || found === null ? undefined : { principal: found, scopes: entry.scopes };
    },
  };
}

const tokenFileOptions = {
  path: aText,
  principal: aFunction,
  onReloadError: optional(aFunction),
  limits: optional(anObject),
  now: optional(aFunction),
} as const satisfies OptionKinds<TokenFileOptions<unknown>>;
