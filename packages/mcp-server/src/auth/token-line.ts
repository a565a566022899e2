import { createHash, randomBytes as systemRandom } from "node:crypto";
import { isDate } from "node:util/types";
import { aFunction, aText, checkOptions, kind, type OptionKinds, optional, textsOf } from "../option-check.js";
import { AuthError, optionFault } from "./errors.js";
import { isScope, readScopes } from "./scopes.js";

/** One token of a token file, as far as it may be known. */
export interface TokenEntry {
  /** Whose it is. Several tokens may have the same name. */
  readonly name: string;
  readonly scopes: readonly string[];
  /** Milliseconds since 1970; undefined: never. */
  readonly expiresAt: number | undefined;
  /** SHA-256 of the token: 64 lower-case hexadecimal digits. */
  readonly sha256: string;
}

/** What `createToken` accepts. */
export interface NewToken {
  /** 1 to 200 characters, none of them a control character. */
  readonly name: string;
  readonly scopes?: readonly string[] | undefined;
  /** In the future. */
  readonly expiresAt: Date | "never";
  /** Default: the system's. */
  readonly randomBytes?: ((size: number) => Uint8Array) | undefined;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * A new token, and its line for a token file, without a line feed. The token is in no file: hand it to whom it is for, once.
 *
 * It holds 256 random bits, so a plain SHA-256 is enough to keep: there is nothing to guess that a slow hash would make slower, and checking costs microseconds. That
 * does not hold for passwords, which is why `openTokenFile` knows no tokens but these.
 * @throws {AuthError} `AUTH_OPTIONS_INVALID`.
 */
export function createToken(options: NewToken): { readonly token: string; readonly line: string } {
  checkOptions(options, tokenOptions, { fault: optionFault });
  const { name, scopes = [], expiresAt, randomBytes = systemRandom, now = Date.now } = options;
  readScopes("scopes", scopes);
  const expires = expiresAt === "never" ? expiresAt : toTime(expiresAt, now());
  const token = `${prefix}${Buffer.from(randomBytes(tokenBytes)).toString("base64url")}`;
  const line = JSON.stringify({ name, scopes, expires, sha256: hashToken(token) });
  const entry = readLine(line);
  if (typeof entry === "string") optionFault(`a token ${entry}`);
  return { token, line };
}
const tokenOptions = {
  name: aText,
  scopes: optional(textsOf("scopes")),
  expiresAt: kind('a Date, or "never"', (value) => value === "never" || isDate(value)),
  randomBytes: optional(aFunction),
  now: optional(aFunction),
} as const satisfies OptionKinds<NewToken>;
const tokenBytes = 32;
const prefix = "berth_";

/** Whether `createToken` could have made it. */
export function isOwnToken(token: string): boolean {
  return /^berth_[A-Za-z0-9_-]{43}$/.test(token);
}

export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/**
 * All entries of a token file: JSON, one object a line; blank lines and those that begin with `#` are skipped.
 * @throws {AuthError} `TOKEN_FILE_INVALID`, naming the line and nothing that it holds.
 */
export function readTokenLines(text: string, maxTokens: number): readonly TokenEntry[] {
  const entries: TokenEntry[] = [];
  const seen = new Set<string>();
  for (const [at, line] of text.split("\n").entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const entry = readLine(line);
    if (typeof entry === "string") throw invalid(at, entry);
    if (seen.has(entry.sha256)) throw invalid(at, "is there twice");
    if (entries.length === maxTokens) throw invalid(at, `is one more than ${maxTokens} tokens`);
    seen.add(entry.sha256);
    entries.push(entry);
  }
  return entries;
}

function invalid(at: number, why: string): AuthError {
  return new AuthError("TOKEN_FILE_INVALID", `line ${at + 1} ${why}`);
}

/** The entry, or what is wrong with it. */
function readLine(line: string): TokenEntry | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "is no JSON"; // The parser's own text quotes what it has read.
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "is no JSON object";
  const { name, scopes, expires, sha256, ...others }: { [key: string]: unknown } = { ...value };
  if (Object.keys(others).length > 0) return "has a member beside name, scopes, expires and sha256";
  if (typeof name !== "string" || !/^\P{Cc}{1,200}$/u.test(name)) return "has no name of 1 to 200 characters";
  if (!isScopeList(scopes)) return "has no list of scopes (RFC 6749 § 3.3), at most 100";
  const expiresAt = readTime(expires);
  if (expiresAt === null) return 'expires neither "never" nor at a time like 2027-01-31T00:00:00Z';
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) return "has no sha256 of 64 lower-case digits";
  return { name, scopes, expiresAt, sha256 };
}

function isScopeList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= 100 && value.every(isScope);
}

/** Undefined for never, null for what is no time. */
function readTime(value: unknown): number | undefined | null {
  if (value === "never") return undefined;
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/.test(value)) return null;
  const time = Date.parse(value);
  // Days that a month does not have would be counted on into the next.
  return Number.isNaN(time) || !new Date(time).toISOString().startsWith(value.slice(0, 19)) ? null : time;
}

function toTime(date: Date, now: number): string {
  if (Number.isNaN(date.getTime())) optionFault("expiresAt is an invalid Date");
  const text = date.toISOString();
  if (date.getTime() <= now) optionFault(`expiresAt is ${text}; it has to be later than now`);
  return text;
}
