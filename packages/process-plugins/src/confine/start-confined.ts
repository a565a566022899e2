import { openSandbox, type Sandbox, type SandboxGate, type SandboxOptions } from "@berth/process-confinement";
import type { Launch } from "@berth/spawn-attestation";
import { confinementRefusal } from "./confinement-refusal.js";
import { prepareDataFolder } from "./data-folder.js";
import { pluginEnvironment } from "./plugin-environment.js";
import { confinedDataFolder, type PluginProcess, type PluginProcessOptions } from "./plugin-process.js";
import { pluginSandbox } from "./plugin-sandbox.js";
import { sandboxName } from "./sandbox-names.js";
import { refuseAbsentTrees, refuseHiddenInterpreter, visibleTrees } from "./visible-trees.js";

/** Opens a sandbox: `openSandbox`, or a starter's `open`. */
export type OpenSandbox = (options: SandboxOptions) => Promise<Sandbox>;

export interface ConfinedStart extends Omit<PluginProcessOptions, "launch"> {
  readonly launch: Pick<Launch, "args" | "file">;
  readonly openSandbox?: OpenSandbox | undefined;
  /** Awaited while the sandbox is up and nothing of the plugin runs. A rejection ends it, and passes through. */
  readonly admitted?: ((gate: SandboxGate) => Promise<void>) | undefined;
}

/**
 * Starts a plugin in a sandbox: its folder read-only at its own path, its data folder, the system, what the operator named, and no network.
 * @throws {ProcessPluginError} `CONFINEMENT_UNAVAILABLE`, `PLUGIN_NOT_STARTED`, `OPTION_INVALID`. Also the signal's reason.
 */
export async function startConfined(options: ConfinedStart): Promise<PluginProcess> {
  const { launch, plugin, limits, signal } = options;
  refuseAbsentTrees(options);
  const trees = visibleTrees(options);
  refuseHiddenInterpreter(plugin, trees);
  const source = await prepareDataFolder(options.dataFolder, plugin);
  try {
    const { file, args } = launch;
    // What the protocol lists and nothing else: what was added for an interpreter that writes beside its sources has no use where nothing can be written.
    const env = pluginEnvironment({ manifest: plugin.manifest, root: plugin.root, dataFolder: confinedDataFolder });
    const data = { source, target: confinedDataFolder };
    const made = pluginSandbox({ trees, data, limits, command: { file, args, env, cwd: plugin.root } });
    const open = options.openSandbox ?? openSandbox;
    const { admitted } = options;
    const gate = admitted === undefined ? {} : { record: whenAdmitted(admitted), startTimeoutMs: gatedStartMs };
    const sandbox = await open({ ...made, name: sandboxName(), signal, ...gate });
    return present(sandbox, plugin.manifest.name);
  } catch (error) {
    throw confinementRefusal(error, plugin.manifest.name);
  }
}

/** What is waited for takes part of the time: a large folder is looked at. */
const gatedStartMs = 60_000;

function whenAdmitted(admitted: (gate: SandboxGate) => Promise<void>): NonNullable<SandboxOptions["record"]> {
  return (_identity, gate) => admitted(gate);
}

function present(sandbox: Sandbox, plugin: string): PluginProcess {
  let isAsked = false;
  const { stdin, stdout, stderr, identity, enforced } = sandbox;
  return {
    pid: identity.init.pid,
    stdin,
    stdout,
    stderr,
    confinement: "bubblewrap",
    enforced: enforced.map(({ limit, value, by }) => `${limit} ${value} by ${by}`),
    exited: sandbox.exited.then(({ code, signal, reason }) => {
      const isOurs = reason === "closed" || (isAsked && (reason === "exited" || reason === "signalled"));
      return { code, signal, reason: isOurs ? "ended" : reason };
    }),
    endInput: () => void stdin.end(),
    terminate: () => {
      isAsked = true;
      sandbox.signal("SIGTERM");
    },
    kill: async () => {
      isAsked = true;
      try {
        await sandbox.kill();
      } catch (error) {
        throw confinementRefusal(error, plugin);
      }
    },
  };
}
