import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import type { Confine, ConfinePolicy } from "../confine.js";
import type { PluginEnvironment } from "./isolated-venv-options.js";
import type { PluginPaths } from "./plugin-paths.js";
import type { VenvBlock } from "./read-block.js";

/** How a worker is confined, and what holds it, known once it was started. */
export interface Confinement {
  readonly option: { readonly by: Confine; readonly policy: ConfinePolicy } | undefined;
  /** For evidence: `none`, or what `confine` said. */
  readonly name: string;
}

export interface ConfinementRequest {
  readonly confine: Confine | undefined;
  readonly pluginName: string;
  readonly block: VenvBlock;
  readonly environment: PluginEnvironment;
  readonly script: string;
  readonly paths: PluginPaths;
}

/** What a block asks for and this host cannot give, known before anything is started. */
export function confinementFaults(block: VenvBlock, confine: Confine | undefined): readonly string[] {
  if (block.confine === undefined) return [];
  if (confine === undefined) return ["config.confine: this host cannot confine a worker"];
  const { networks = [block.confine.network] } = confine;
  if (networks.includes(block.confine.network)) return [];
  return [
    `config.confine.network: a confined worker cannot have ${block.confine.network} here, only ${networks.join(", ")}`,
  ];
}

/** The policy of one plugin: it reads its environment, its interpreter and the plugins, and writes what its entry names. */
export async function createConfinement(request: ConfinementRequest): Promise<Confinement> {
  const { block, confine, environment, paths } = request;
  if (block.confine === undefined || confine === undefined) return { option: undefined, name: "none" };
  const policy: ConfinePolicy = {
    name: `plugin ${request.pluginName}`,
    readable: [...(await codeFolders(environment, request.script)), paths.plugins, ...block.confine.readable],
    writable: block.confine.writable,
    network: block.confine.network,
    cwd: paths.cwd,
  };
  let name = "none";
  const by: Confine = async (argv, wanted) => {
    const command = await confine(argv, wanted);
    name = command.confinement;
    return command;
  };
  return {
    option: { by, policy },
    get name() {
      return name;
    },
  };
}

/** The interpreter of an environment is a link, to one that may be outside of the system's own folders. */
async function codeFolders({ path, python }: PluginEnvironment, script: string): Promise<readonly string[]> {
  const base = dirname(dirname(await realpath(python)));
  return [...new Set([path, dirname(script), base])].filter((folder) => folder !== "/" && folder !== "/usr");
}
