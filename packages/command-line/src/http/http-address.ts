import { isIP } from "node:net";
import { CommandError, exitCodes } from "../errors.js";

/** Where to listen. */
export interface HttpAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Reads `HOST:PORT`; an IPv6 address stands in brackets. Port 0: any that is free.
 * @param example What the fault names as an example, such as the program's default.
 * @throws {CommandError} `USAGE`.
 */
export function readHttpAddress(text: string, example: string): HttpAddress {
  const [, bracketed, plain, digits = ""] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  const isHost = bracketed === undefined ? /^[A-Za-z0-9._-]+$/.test(plain ?? "") : isIP(bracketed) === 6;
  if (host === undefined || !isHost || port > 65_535) {
    throw new CommandError("USAGE", exitCodes.usage, `--http ${text} is no HOST:PORT, such as ${example} or [::1]:0`);
  }
  return { host, port };
}

/** Whether only this machine can connect to an address. A name counts when it is the one that always means this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
