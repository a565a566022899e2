import {
  type HttpAddress,
  type NamesServed,
  namesServed,
  readHttpAddress,
  refuseOpenDoor,
} from "@berth/command-line/http";
import { AppError } from "../errors.js";

export const defaultHttp = "127.0.0.1:8223";

/** Where HTTP is served, and under which names. */
export interface HttpDoor {
  readonly kind: "http";
  readonly address: HttpAddress;
  readonly names: NamesServed;
}

const advice =
  "make a token with `berth-plugin-host token NAME --file FILE` and give --token-file FILE, or listen on 127.0.0.1";

/**
 * Whoever can connect may see what plugins decide and have them work, so an address that others can reach needs authentication.
 * @throws {CommandError} `USAGE`.
 */
export function readHttpDoor(http: string, authenticated: boolean, allowedHosts?: readonly string[]): HttpDoor {
  const address = readHttpAddress(http, defaultHttp);
  refuseOpenDoor(address, authenticated, advice);
  try {
    return { kind: "http", address, names: namesServed({ more: allowedHosts, option: "--allowed-host" }) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new AppError("USAGE", error.message);
  }
}
