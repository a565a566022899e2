/** RFC 9110 § 7.6.1 and RFC 9112: they are about one connection, and this one ends here. */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** A cookie of the guest would be one of ours to a browser. */
const refused: ReadonlySet<string> = new Set(["set-cookie", "set-cookie2"]);

/** The headers that are passed on, in their order, from Node's flat list of names and values. */
export function passedHeaders(rawHeaders: readonly string[]): readonly (readonly [string, string])[] {
  const pairs = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""] as const] : []));
  const named = pairs
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.split(",").map((option) => option.trim().toLowerCase()));
  return pairs.filter(([name]) => {
    const lower = name.toLowerCase();
    return !hopByHop.has(lower) && !refused.has(lower) && !named.includes(lower);
  });
}
