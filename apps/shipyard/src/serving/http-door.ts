import { type HttpAddress, readHttpAddress, refuseOpenDoor } from "@berth/command-line/http";
import type { ShipyardConfig } from "../config/config.js";

export const defaultHttp = "127.0.0.1:8222";

const advice = "write auth.tokenFile into shipyard.yaml and give it with --config, or listen on 127.0.0.1";

/**
 * Where to listen. Whoever can connect may run code here, so an address that others can reach needs authentication.
 * @throws {CommandError} `USAGE`.
 */
export function readHttpDoor(text: string, { auth }: Pick<ShipyardConfig, "auth">): HttpAddress {
  const address = readHttpAddress(text, defaultHttp);
  refuseOpenDoor(address, auth !== undefined, advice);
  return address;
}
