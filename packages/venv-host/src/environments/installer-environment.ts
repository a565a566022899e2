import { withoutCredentials } from "./credentials-in-urls.js";
import type { IndexPolicy } from "./environment-store.js";

/** Settings of this machine that say where distributions come from; passed on by the policy `default` only. */
const indexNames = [
  "PIP_INDEX_URL",
  "PIP_EXTRA_INDEX_URL",
  "PIP_FIND_LINKS",
  "PIP_NO_INDEX",
  "PIP_TRUSTED_HOST",
  "PIP_CONFIG_FILE",
  "UV_INDEX",
  "UV_DEFAULT_INDEX",
  "UV_INDEX_URL",
  "UV_EXTRA_INDEX_URL",
  "UV_FIND_LINKS",
  "UV_CONFIG_FILE",
] as const;
const placeNames = ["HOME", "XDG_CONFIG_HOME"] as const;
const certificateNames = ["SSL_CERT_FILE", "SSL_CERT_DIR", "PIP_CERT"] as const;

type Variables = Readonly<Record<string, string>>;

/** What an installer gets of our environment under a policy, before its own folders are added. */
export function installerEnvironment(index: IndexPolicy, given: Variables, own: NodeJS.ProcessEnv): Variables {
  const passed =
    index.from === "default"
      ? picked(own, [...indexNames, ...placeNames, ...certificateNames])
      : index.from === "index"
        ? { ...picked(own, certificateNames), PIP_INDEX_URL: index.url, UV_DEFAULT_INDEX: index.url }
        : {};
  // Nobody's configuration file chooses an index behind the policy.
  const closed = index.from === "default" ? {} : { PIP_CONFIG_FILE: "/dev/null", UV_NO_CONFIG: "1" };
  return { ...passed, ...given, ...closed };
}

/** The index policy as it enters the key: without credentials. */
export function indexIdentity(index: IndexPolicy, env: Variables): Readonly<Record<string, unknown>> {
  if (index.from === "index") return { from: "index", url: withoutCredentials(index.url) };
  if (index.from === "wheels") return { from: "wheels", folders: index.folders };
  const settings = Object.entries(picked(env, indexNames)).map(([name, value]) => [name, withoutCredentials(value)]);
  return { from: "default", settings: Object.fromEntries(settings) };
}

function picked(from: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}
