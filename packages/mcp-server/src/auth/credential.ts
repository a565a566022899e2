/** What the `Authorization` header of a request holds. */
export type Credential =
  | { readonly kind: "token"; readonly token: string }
  /** No header, or another scheme. */
  | { readonly kind: "none" }
  /** Several credentials: which one counts is not ours to choose. */
  | { readonly kind: "several" }
  /** Not by the grammar, or too long. */
  | { readonly kind: "malformed" };

/** Reads `Bearer b64token` (RFC 6750 § 2.1); the scheme in any case (RFC 9110 § 11.1). `header` is all headers of that name, joined by commas. */
export function readCredential(header: string | undefined, maxTokenBytes: number): Credential {
  if (header === undefined) return { kind: "none" };
  const scheme = /^[ \t]*bearer(?![!#-'*+\-.^_`|~0-9A-Za-z])/i.exec(header);
  if (scheme === null) return { kind: "none" };
  // A token holds no comma, so whatever has one is a list: of credentials, or of parameters.
  if (header.includes(",")) return { kind: "several" };
  if (header.length > maxTokenBytes + maxSpaces) return { kind: "malformed" };
  const [, token] = bearer.exec(header) ?? [];
  if (token === undefined || token.length > maxTokenBytes) return { kind: "malformed" };
  return { kind: "token", token };
}
/** Allowed around a token, beside the scheme. */
const maxSpaces = 64;
const bearer = /^[ \t]*bearer[ \t]+([A-Za-z0-9\-._~+/]+=*)[ \t]*$/i;
