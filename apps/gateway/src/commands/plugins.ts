import { createLogger, exitCodes, listenForExit, printJson, printLine } from "@berth/command-line";
import { loadConfig } from "../config.js";
import { GatewayError } from "../errors.js";
import type { PluginReadiness } from "../plugins/open-plugins.js";
import { preparePlugins } from "../plugins/prepare-plugins.js";
import { openSessionLog } from "../session-log.js";
import { openStateFolder } from "../state-folder.js";
import { version } from "../version.js";

/** What the command line says. */
export interface PluginsOptions {
  readonly config: string;
  readonly state: string;
  readonly json?: boolean | undefined;
}

/** Makes the environments of all plugins now, starts each once and imports its class, so that no client has to wait for that. Exit code 1 when one is not ready. */
export async function pluginsCommand(options: PluginsOptions): Promise<number> {
  const config = await loadConfig(options.config);
  const plugins = await preparePlugins(config);
  if (plugins === undefined) throw new GatewayError("USAGE", `${options.config} names no plugins`);
  const state = await openStateFolder(options.state);
  const logger = await createLogger(config.log.level);
  const exits = listenForExit();
  const log = await openSessionLog({
    folder: state.audit,
    durability: config.audit.durability,
    now: Date.now,
    opening: { mode: "plugins", version, pid: process.pid, plugins: plugins.file, pluginsDigest: plugins.digest },
  });
  try {
    const opened = await plugins.open({ venvs: state.venvs, log, logger, signal: exits.signal, importsFirst: true });
    await opened.close();
    show(opened.readiness, options);
    return opened.readiness.every(({ ready }) => ready) ? exitCodes.good : exitCodes.failed;
  } finally {
    await log.close(exits.cause() ?? "DONE");
    exits.release();
  }
}

function show(readiness: readonly PluginReadiness[], { json }: PluginsOptions): void {
  if (json === true) printJson({ plugins: readiness });
  else {
    for (const { plugin, ready, message } of readiness)
      printLine(ready ? `ready      plugin ${plugin}` : `NOT READY  plugin ${plugin}: ${message}`);
  }
}
