import { confine } from "@berth/process-confinement/launcher";
import { type EnvironmentStore, openEnvironmentStore } from "@berth/venv-host";
import type { StoreTerms } from "../options.js";

/** The store of a state folder. A confined install has no network, and writes its own environment only. */
export function openStore(path: string, { confineInstalls, ...terms }: StoreTerms): Promise<EnvironmentStore> {
  return openEnvironmentStore({
    path,
    ...terms,
    confine: confineInstalls === "never" ? undefined : confine,
    ifNotConfined: confineInstalls === "required" ? "refuse" : "warn",
  });
}
