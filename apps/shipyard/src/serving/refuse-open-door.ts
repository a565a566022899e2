import type { ShipyardConfig } from "../config/config.js";
import { ShipyardError } from "../errors.js";
import { type HttpAddress, isLoopback } from "./http-address.js";

/**
 * Whoever can connect may run code here, so an address that others can reach needs authentication.
 * @throws {ShipyardError} `USAGE`
 */
export function refuseOpenDoor({ host }: HttpAddress, { auth }: Pick<ShipyardConfig, "auth">): void {
  if (isLoopback(host) || auth !== undefined) return;
  throw new ShipyardError("USAGE", `${host} can be reached by others, and no authentication is configured`, {
    lines: ["write auth.tokenFile into shipyard.yaml and give it with --config, or listen on 127.0.0.1"],
  });
}
