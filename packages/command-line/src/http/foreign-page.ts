/** What a browser says of a request's origin (Fetch Metadata Request Headers). Programs that are no browsers say nothing. */
export interface FetchMetadata {
  readonly method: string;
  readonly site: string | undefined;
  readonly mode: string | undefined;
}

/**
 * Whether a browser says that a page of another origin sends this. Pages of other ports of this machine have an `Origin` that is
 * served, and need no leave of ours for a plain POST; what they would start here runs for whoever looks at them.
 * What changes nothing may be opened by a link from anywhere, but is no picture or script of another site's page, which would
 * learn from it what there is here.
 */
export function isForeignPage({ method, site, mode }: FetchMetadata): boolean {
  const changesNothing = method === "GET" || method === "HEAD" || method === "OPTIONS";
  if (changesNothing) return site === "cross-site" && mode === "no-cors";
  return site !== undefined && site !== "same-origin" && site !== "none";
}
