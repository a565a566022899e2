import { type DocumentFault, type DocumentReading, readDocument } from "@berth/command-line/config";
import { isLeaseError, readProfile } from "@berth/environment-leases";
import { namesServed } from "../http/names-served.js";
import { defaultProfile, withDefaultLimits } from "../profiles/default-profile.js";
import type { ShipyardConfig } from "./config.js";
import { checkFile, type ShipyardFile } from "./config-schema.js";

export { describeProblems } from "@berth/command-line/config";

/** Reads the text of a `shipyard.yaml`. An empty text is the default configuration. Never throws. */
export function readConfig(text: string): DocumentReading<ShipyardConfig> {
  return readDocument(text, (value) => {
    const form = checkFile(value);
    if (!form.ok) return form;
    const faults = faultsOfMeaning(form.value);
    return faults.length === 0 ? { ok: true, value: configOf(form.value) } : { ok: false, faults };
  });
}

function configOf(file: ShipyardFile): ShipyardConfig {
  const { provider } = file;
  const named = Object.entries(file.profiles).map(([name, profile]) => [
    name,
    withDefaultLimits({ ...profile, provider }),
  ]);
  return { ...file, profiles: { python: defaultProfile(provider), ...Object.fromEntries(named) } };
}

/** What the form of a document does not show. */
function faultsOfMeaning(file: ShipyardFile): readonly DocumentFault[] {
  const { profiles, profile } = configOf(file);
  const faults: DocumentFault[] = [];
  if (!Object.hasOwn(profiles, profile)) {
    faults.push({ path: ["profile"], message: `profile: there is no profile ${profile}` });
  }
  for (const [name, given] of Object.entries(profiles)) {
    for (const { field, fault } of faultsOfProfile(name, given)) {
      const path = ["profiles", name, ...field.split(/[.[\]]+/u).filter((step) => step !== "")];
      faults.push({ path, message: `profiles.${name}.${field} ${fault}` });
    }
  }
  file.allowedHosts.forEach((name, at) => {
    if (!isHostName(name))
      faults.push({ path: ["allowedHosts", at], message: `allowedHosts: ${name} is no host name` });
  });
  return [...faults, ...faultsOfCeilings(file)];
}

/** Defaults of the packages count where the file is silent. */
function faultsOfCeilings({ leases, sessions }: ShipyardFile): readonly DocumentFault[] {
  const { defaultTtlMs = 900_000, maxLifetimeMs = 86_400_000 } = leases;
  const { defaultCallMs = 0, maxCallMs = 600_000 } = sessions;
  const over = (path: readonly string[], ceiling: string): DocumentFault => ({
    path,
    message: `${path.join(".")} is over ${ceiling}`,
  });
  return [
    ...(defaultTtlMs > maxLifetimeMs ? [over(["leases", "defaultTtlMs"], "leases.maxLifetimeMs")] : []),
    ...(defaultCallMs > maxCallMs ? [over(["sessions", "defaultCallMs"], "sessions.maxCallMs")] : []),
  ];
}

function isHostName(name: string): boolean {
  try {
    namesServed([name]);
    return true;
  } catch {
    return false; // said here with its line
  }
}

function faultsOfProfile(name: string, profile: unknown): readonly { field: string; fault: string }[] {
  try {
    readProfile(name, profile);
    return [];
  } catch (error) {
    if (!isLeaseError(error)) throw error;
    return error.faults;
  }
}
