/** Which names a client may call a server by, and from which pages. A page of any other origin could have its reader's browser use it. */
export interface NamesServed {
  readonly hosts: readonly string[];
  /** Undefined when the request may pass, else why not. */
  refusal(host: string | undefined, origin: string | undefined): string | undefined;
  /** The same rules in the form of `@berth/mcp-server`, with `hosts` as `allowedHosts`. */
  readonly allowedOrigins: readonly string[];
}

/** What `namesServed` takes. */
export interface NamesOptions {
  /** Served whatever the operator says. Default: the names of this machine's loopback. */
  readonly always?: readonly string[] | undefined;
  /** The operator's, without port; case does not matter. */
  readonly more?: readonly string[] | undefined;
  /** Where the operator says so, for messages: `--allowed-host`. */
  readonly option: string;
}

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/**
 * The rules for `Host` and `Origin`, each by itself (DNS rebinding; Fetch § CORS). Names are served at any port.
 * @throws {TypeError} for what is no host name.
 */
export function namesServed({ always = loopbackNames, more = [], option }: NamesOptions): NamesServed {
  const extra = more.map((name) => name.trim().toLowerCase());
  for (const name of extra) {
    const isName = /^(?:[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])$/.test(name);
    if (!isName) throw new TypeError(`${option}: ${JSON.stringify(name)} is no host name without a port`);
  }
  const hosts = [...new Set([...always, ...extra])];
  const isServed = (name: string): boolean => hosts.includes(name.toLowerCase());
  return {
    hosts,
    allowedOrigins: hosts.flatMap((name) => [`http://${name}:*`, `https://${name}:*`]),
    refusal(host, origin) {
      if (host === undefined || !isServed(withoutPort(host)))
        return `this Host is not served here: the operator names others in ${option}`;
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
