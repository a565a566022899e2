import { type NamesServed, namesServed as servedBy } from "@berth/command-line/http";

/** As the original serves by default; `[::1]` is this machine too. */
const always = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0", "coderunner.local"];

/**
 * `more` are names without port; case does not matter.
 * @throws {TypeError} for what is no host name.
 */
export function namesServed(more?: readonly string[]): NamesServed {
  return servedBy({ always, more, option: "allowedHosts" });
}
