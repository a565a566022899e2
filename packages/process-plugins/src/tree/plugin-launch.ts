import type { AskInterpreter, SpawnDescription } from "@berth/spawn-attestation";
import { pluginEnvironment } from "../confine/plugin-environment.js";
import type { InspectedPlugin } from "./inspected-plugin.js";

/**
 * What is measured and then started: the executable with the manifest's arguments, over the whole folder, with nothing left out.
 * Whoever measures uses this one, since the digest depends on it. Pure.
 * @param dataFolder As the process sees it.
 */
export function describePlugin(
  { root, manifest, executable }: Pick<InspectedPlugin, "root" | "manifest" | "executable">,
  dataFolder: string,
): SpawnDescription {
  return {
    command: executable,
    args: manifest.process.args,
    env: pluginEnvironment({ manifest, root, dataFolder }),
    cwd: root,
    measureTarget: root,
    measureWhole: true,
    guard: "recheck",
  };
}

/**
 * For `ask` of spawn-attestation: by default it runs what stands for an interpreter, unconfined, to ask it for the real one. In a
 * plugin's folder that is an attacker's script with the name `python`.
 */
export const neverAsk: AskInterpreter = async () => {
  throw new Error("nothing of a plugin runs unconfined");
};
