/** Which names a client may call this server by, and from which pages. A page of any other origin could make its reader's browser run code here. */
export interface NamesServed {
  readonly hosts: readonly string[];
  /** Undefined when the request may pass, else why not. */
  refusal(host: string | undefined, origin: string | undefined): string | undefined;
  /** The same rules in the form of `@berth/mcp-server`. */
  readonly allowedOrigins: readonly string[];
}

/** As the original serves by default; `[::1]` is this machine too. */
const always = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0", "coderunner.local"];

/**
 * `more` are names without port; case does not matter.
 * @throws {TypeError} for what is no host name.
 */
export function namesServed(more: readonly string[] = []): NamesServed {
  const extra = more.map((name) => name.trim().toLowerCase());
  for (const name of extra) {
    const isName = /^(?:[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])$/.test(name);
    if (!isName) throw new TypeError(`allowedHosts: ${JSON.stringify(name)} is no host name without a port`);
  }
  const hosts = [...new Set([...always, ...extra])];
  const isServed = (name: string): boolean => hosts.includes(name.toLowerCase());
  return {
    hosts,
    allowedOrigins: hosts.flatMap((name) => [`http://${name}:*`, `https://${name}:*`]),
    refusal(host, origin) {
      if (host === undefined || !isServed(withoutPort(host)))
        return "this Host is not served here: the operator names others in allowedHosts";
      if (origin === undefined) return undefined;
      const name = hostOfOrigin(origin);
      return name === undefined || !isServed(name) ? "this Origin is not allowed" : undefined;
    },
  };
}

function withoutPort(host: string): string {
  return host.replace(/:\d{1,5}$/, "");
}

/** Undefined for `null`, other schemes, and whatever has a user, path, query or fragment. */
function hostOfOrigin(origin: string): string | undefined {
  return /^https?:\/\/([a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.exec(origin)?.[1];
}
