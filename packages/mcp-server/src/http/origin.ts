import type { RequestHead } from "./admission.js";
import { badRequest } from "./refusals.js";

/** Who may reach a server, and from which pages. */
export interface OriginRules {
  /**
   * Values of `Host` that are served: `mcp.example.com` (any port) or `mcp.example.com:8443`, in lower case. Default: `localhost`, `127.0.0.1` and
   * `[::1]`. Without this check any page could reach a server on this machine under a name of its own (DNS rebinding).
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Origins whose pages are served, such as `https://app.example.com`, or `http://localhost:*` for any port. Default: those on this machine, at any port, as long as `allowedHosts` is not given; else
   * none. `null` is never allowed. Requests without `Origin` come from no page.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** Checks `Host` and `Origin`, each by itself; says which headers the answer to an allowed page needs. */
export interface OriginCheck {
  /** @throws {HttpRefusal} 403 */
  check(head: RequestHead): Readonly<Record<string, string>>;
  /** The answer to a page that asks whether it may send a request (Fetch § CORS-preflight). */
  readonly preflight: Readonly<Record<string, string>>;
}

const loopbackHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;
const loopbackOrigin = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/** `note` is told of the first refusal of either kind: whoever has to open the door should learn of it, and nobody should fill a log. */
export function createOriginCheck(
  { allowedHosts, allowedOrigins }: OriginRules,
  note: (text: string) => void,
): OriginCheck {
  const hosts = allowedHosts === undefined ? undefined : new Set(allowedHosts.map(readHost));
  const origins = allowedOrigins === undefined ? undefined : new Set(allowedOrigins.map(readOrigin));
  const isHost = (host: string): boolean =>
    hosts === undefined ? loopbackHost.test(host) : hosts.has(host) || hosts.has(host.replace(/:\d{1,5}$/, ""));
  const isOrigin = (origin: string): boolean => {
    if (origins !== undefined) return !origin.endsWith(":*") && (origins.has(origin) || origins.has(anyPortOf(origin)));
    return hosts === undefined && loopbackOrigin.test(origin);
  };
  const noted = new Set<string>();
  const refuse = (header: "Host" | "Origin", value: string, message: string): never => {
    if (!noted.has(header))
      note(`refused ${header} ${quoted(value)}: allowed${header}s says which are served (told once)`);
    noted.add(header);
    throw badRequest(403, message);
  };
  return {
    check(head) {
      const host = head.header("host") ?? "";
      if (!isHost(host.toLowerCase())) refuse("Host", host, "this Host is not served here");
      const origin = head.header("origin");
      if (origin === undefined) return varies;
      if (!isOrigin(origin)) refuse("Origin", origin, "this Origin is not allowed");
      return {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": "Mcp-Session-Id, WWW-Authenticate",
        ...varies,
      };
    },
    preflight: {
      "access-control-allow-methods": "POST, GET, DELETE",
      "access-control-max-age": "7200",
    },
  };
}

/** Also of an answer to a request without `Origin`: whoever keeps it must not give it to a page (Fetch § CORS protocol and HTTP caches). */
const varies = { vary: "Origin" } as const;

/** What a client sent, for a log: nothing but printable ASCII, since a terminal obeys the rest. */
function quoted(value: string): string {
  const text = value.length > maxQuoted ? `${value.slice(0, maxQuoted)}...` : value;
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(/[^ -~]/g, escaped);
}
const maxQuoted = 100;

/** Headers that a page may send beside the ones that it always may. `Mcp-Param-*` are whatever tools are annotated with. */
const requestHeaders = [
  "accept",
  "authorization",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "traceparent",
  "tracestate",
];

/** The headers of which a page asked for leave that it gets leave for. */
export function allowedHeaders(asked: string | undefined): string {
  const names = (asked ?? "").split(",").map((name) => name.trim().toLowerCase());
  const own = names.filter((name) => /^mcp-param-[!#$%&'*+.^_`|~\w-]+$/.test(name));
  return [...requestHeaders, ...own].join(", ");
}

function readHost(host: string): string {
  if (/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/.test(host) && host === host.toLowerCase()) return host;
  throw new TypeError(`allowedHosts: ${JSON.stringify(host)} is no host name in lower case`);
}

/** As it is allowed at any port; a text that no list holds for what is no origin in the form in which browsers send it. */
function anyPortOf(origin: string): string {
  const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
  return isOrigin ? `${origin.replace(/:\d{1,5}$/, "")}:*` : "";
}

function readOrigin(origin: string): string {
  const anyPort = origin.endsWith(":*") ? origin.slice(0, -2) : undefined;
  if (anyPort !== undefined && new URL(readOrigin(anyPort)).port === "") return origin;
  if (URL.canParse(origin) && new URL(origin).origin === origin && origin !== "null") return origin;
  throw new TypeError(`allowedOrigins: ${JSON.stringify(origin)} is no origin such as "https://app.example.com"`);
}
