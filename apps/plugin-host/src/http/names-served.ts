import type { IncomingHttpHeaders } from "node:http";

/** Which names a client may call this server by, and from which pages. A page of any other origin could have its reader's browser use the plugins. */
export interface NamesServed {
  readonly hosts: readonly string[];
  /** The same rules in the form of `@berth/mcp-server`. */
  readonly allowedOrigins: readonly string[];
  /** Undefined when the request may pass, else why not. */
  refusal(headers: IncomingHttpHeaders): string | undefined;
}

const always = ["localhost", "127.0.0.1", "[::1]"];

/**
 * `more` are names without port; case does not matter.
 * @throws {TypeError} for what is no host name.
 */
export function namesServed(more: readonly string[] = []): NamesServed {
  const extra = more.map((name) => name.trim().toLowerCase());
  for (const name of extra) {
    const isName = /^(?:[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])$/.test(name);
    if (!isName) throw new TypeError(`--allowed-host: ${JSON.stringify(name)} is no host name without a port`);
  }
  const hosts = [...new Set([...always, ...extra])];
  const isServed = (name: string): boolean => hosts.includes(name.toLowerCase());
  return {
    hosts,
    allowedOrigins: hosts.flatMap((name) => [`http://${name}:*`, `https://${name}:*`]),
    refusal({ host, origin }) {
      if (host === undefined || !isServed(host.replace(/:\d{1,5}$/, "")))
        return "this Host is not served here: --allowed-host names others";
      if (origin === undefined) return undefined;
      const name = /^https?:\/\/([a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.exec(origin)?.[1];
      return name === undefined || !isServed(name) ? "this Origin is not allowed" : undefined;
    },
  };
}

/** Whether a browser says that a page of another origin sends this (Fetch Metadata Request Headers). Other programs say nothing. */
export function isForeignPage({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean {
  return site !== undefined && site !== "same-origin" && site !== "none";
}
