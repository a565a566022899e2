import { readHostName, readPort } from "./host-name.js";
import { type RequestHead, singleField } from "./http-head.js";
import { EgressRefused, malformed } from "./refused.js";

/** A host and port as a client wrote them; `host` is not yet compared with anything. */
export interface Destination {
  readonly host: string;
  readonly port: number;
}

/** What an HTTP client wants: a tunnel, or one request forwarded. */
export type HttpTarget =
  | { readonly kind: "connect"; readonly to: Destination }
  | { readonly kind: "forward"; readonly to: Destination; readonly path: string };

const absoluteForm = /^http:\/\/([^/?#]*)([/?][\x21\x22\x24-\x7e]*)?$/i;
const authority = /^(\[[^\]]*\]|[^:[\]@]*)(?::([0-9]*))?$/;

/**
 * RFC 9112 § 3.2: authority-form for CONNECT, else absolute-form with `http`. The Host field must name the same destination.
 * @throws {EgressRefused} `REQUEST_INVALID`.
 */
export function readTarget(head: RequestHead): HttpTarget {
  const host = singleField(head, "host");
  if (host === undefined && head.version === "1.1") throw malformed("no host field");
  if (head.method === "CONNECT") {
    const to = readAuthority(head.target, undefined);
    if (host !== undefined) requireSame(host, to, to.port);
    return { kind: "connect", to };
  }
  const form = absoluteForm.exec(head.target);
  if (form === null) throw malformed("the target is not an absolute http: address; for https use CONNECT");
  // It would show the client what the proxy and those behind it send, and no program needs it.
  if (head.method === "TRACE") throw malformed("TRACE is not forwarded");
  const to = readAuthority(form[1] ?? "", 80);
  if (host !== undefined) requireSame(host, to, 80);
  const path = form[2] ?? "/";
  return { kind: "forward", to, path: path.startsWith("?") ? `/${path}` : path };
}

function readAuthority(text: string, otherwise: number | undefined): Destination {
  const parts = authority.exec(text);
  const port = parts?.[2] === undefined ? otherwise : readPort(parts[2]);
  if (parts === null || port === undefined) throw malformed("the target's host or port is malformed");
  return { host: decodeHost(parts[1] ?? ""), port };
}

/** A Host that differs from the target lets a client reach, through an allowed host, another site on the same server. */
function requireSame(field: string, to: Destination, otherwise: number): void {
  const named = readAuthority(field, otherwise);
  if (named.port !== to.port || canonical(named.host) !== canonical(to.host))
    throw malformed("the host field does not name the target");
}

function canonical(host: string): string {
  const reading = readHostName(host);
  return "name" in reading ? reading.name : host.toLowerCase();
}

/** The head was read as latin1; names may be UTF-8. */
function decodeHost(text: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(text, "latin1"));
  } catch (cause) {
    throw new EgressRefused("REQUEST_INVALID", `the host is not UTF-8: ${String(cause)}`);
  }
}
