/**
 * Whether a browser says that a page of another origin sends this. Pages of other ports of this machine have an `Origin` that is
 * served, and need no leave of ours for a plain POST; what they would start here runs for whoever looks at them.
 * (Fetch Metadata Request Headers § Sec-Fetch-Site. Programs that are no browsers do not send it.)
 */
export function isForeignPage(method: string, site: string | undefined): boolean {
  const changesNothing = method === "GET" || method === "HEAD" || method === "OPTIONS";
  return !changesNothing && site !== undefined && site !== "same-origin" && site !== "none";
}
