import { type AcquirePluginEnvironment, isolatedVenv } from "@berth/venv-host";
import type { PluginEntry, PluginKind } from "@berth/venv-host/executor";
import { workerConfine } from "../confine/worker-confine.js";
import { explainedKind } from "./explained-kind.js";

/** The kind `isolated_venv` as this program runs it. @param cwd Absolute. */
export function workersKind(acquire: AcquirePluginEnvironment, cwd: string): PluginKind {
  const kind = explainedKind(isolatedVenv({ acquire, cwd, confine: workerConfine() }), cwd);
  return { ...kind, check: (entry) => [...kind.check(entry), ...faultsOfConfinement(entry)] };
}

/** A sandbox has no route to the network: what cannot be held is refused before anything is started. */
function faultsOfConfinement({ config }: PluginEntry): readonly string[] {
  const confine = config?.["confine"];
  if (typeof confine !== "object" || confine === null || !("network" in confine)) return [];
  if (confine["network"] !== "host") return [];
  return ["config.confine.network: a confined worker has no network here; take `network: host` away"];
}
