import { CommandError, exitCodes } from "../errors.js";
import { type HttpAddress, isLoopback } from "./http-address.js";

/**
 * An address that others can reach needs somebody who keeps strangers out: whoever can connect can do what the program does.
 * @param advice How the operator does that, one sentence.
 * @throws {CommandError} `USAGE`.
 */
export function refuseOpenDoor({ host }: HttpAddress, authenticated: boolean, advice: string): void {
  if (isLoopback(host) || authenticated) return;
  const message = `${host} can be reached by others, and no authentication is configured`;
  throw new CommandError("USAGE", exitCodes.usage, message, { lines: [advice] });
}
