import { isIP } from "node:net";
import { AppError } from "../errors.js";

/** Where to listen. */
export interface HttpAddress {
  readonly host: string;
  readonly port: number;
}

export const defaultHttp = "127.0.0.1:8223";

/**
 * Reads `HOST:PORT`; an IPv6 address stands in brackets. Port 0: any that is free.
 * @throws {AppError} `USAGE`
 */
export function readHttpAddress(text: string): HttpAddress {
  const [, bracketed, plain, digits = ""] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  const isHost = bracketed === undefined ? /^[A-Za-z0-9._-]+$/.test(plain ?? "") : isIP(bracketed) === 6;
  if (host === undefined || !isHost || port > 65_535) {
    throw new AppError("USAGE", `--http ${text} is no HOST:PORT, such as ${defaultHttp} or [::1]:0`);
  }
  return { host, port };
}

/** Whether only this machine can connect to an address. A name counts when it is the one that always means this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
