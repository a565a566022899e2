import type { GotEnvironment } from "./plugin-environments.js";

/** Members of plain JSON, for a log. */
export type EnvironmentFacts = Readonly<Record<string, string | string[] | boolean | undefined>>;

/** What a plugin's environment is made of, as it was measured; of one that somebody else installed only where it is. */
export function environmentFacts(got: GotEnvironment): EnvironmentFacts {
  if ("installed" in got) return { plugin: got.plugin, origin: "installed", path: got.installed };
  const { key, origin, reason, evidence } = got.held;
  const { digest, interpreter, installer, confinement, builtFromSource, distributions } = evidence;
  return {
    plugin: got.plugin,
    origin,
    reason,
    environmentKey: key,
    environmentDigest: digest,
    pythonVersion: interpreter.version,
    pythonSha256: interpreter.sha256,
    installer,
    confinement,
    builtFromSource,
    distributions: distributions.map(
      ({ name, version, recordSha256 }) => `${name}==${version} ${recordSha256 ?? "no record"}`,
    ),
  };
}
