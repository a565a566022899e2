import { StdioTransportError } from "./errors.js";

/**
 * What a child may see of our environment unless more is named: where programs, the user's files and temporary files are,
 * and the language. No credentials, no proxies, nothing that changes how an interpreter loads code.
 */
export const defaultEnvironmentNames: readonly string[] = [
  "HOME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "LC_MESSAGES",
  "LOGNAME",
  "PATH",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "USER",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_RUNTIME_DIR",
  "XDG_STATE_HOME",
];

/**
 * The environment of a child: the default names as far as `source` has them, the extra names, and the values of `set`, the
 * later ones winning.
 * @throws {StdioTransportError} `ENVIRONMENT_MISSING` when `source` lacks one of the extra names: a server that needs a
 * variable should fail here, where the reason is known.
 */
export function listedEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  extraNames: readonly string[] = [],
  set: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const listed: Record<string, string> = {};
  for (const name of defaultEnvironmentNames) {
    const value = source[name];
    // A shell function that bash exported is code, not a value.
    if (value !== undefined && !value.startsWith("() {")) listed[name] = value;
  }
  const missing = extraNames.filter((name) => source[name] === undefined && set[name] === undefined);
  if (missing.length > 0) {
    throw new StdioTransportError("ENVIRONMENT_MISSING", `not set in the environment: ${missing.join(", ")}`);
  }
  for (const name of extraNames) {
    const value = source[name];
    if (value !== undefined) listed[name] = value;
  }
  return { ...listed, ...set };
}
