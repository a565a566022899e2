import { confinedDataFolder, type PluginProcess, type PluginProcessOptions } from "../../confine/plugin-process.js";
import { startConfined } from "../../confine/start-confined.js";
import { startUnconfined } from "../../confine/start-unconfined.js";
import { type InstanceTerms, readInstanceOptions } from "../../instance/instance-terms.js";
import type { InspectedPlugin } from "../../tree/inspected-plugin.js";
import { describePlugin } from "../../tree/plugin-launch.js";
import type { CheckOptions } from "../check-plugin.js";
import { type Conversation, openConversation } from "./conversation.js";
import { checkHost } from "./host-words.js";
import type { ScriptSetting } from "./script.js";

/** `bare`: not even in a process namespace of its own, as the controls of escapes need it. */
export type RunKind = "confined" | "unconfined" | "bare";

/** What every run of a plugin in one check has in common. */
export interface RunSetting {
  readonly plugin: InspectedPlugin;
  readonly options: CheckOptions;
  readonly interpreters: readonly string[];
}

/** One process of the plugin, and the conversation with it. */
export interface PluginRun {
  readonly process: PluginProcess;
  readonly conversation: Conversation;
  readonly script: ScriptSetting;
  readonly terms: InstanceTerms;
  /** Ends what is left. @throws {ProcessPluginError} `PLUGIN_NOT_ENDED`. */
  end(): Promise<void>;
}

/**
 * Starts a plugin that was inspected; its folder is a copy that nobody else has.
 * @param dataFolder On this machine. @throws {ProcessPluginError} as `startConfined`. Also the signal's reason.
 */
export async function runPlugin(
  { plugin, options, interpreters }: RunSetting,
  dataFolder: string,
  kind: RunKind,
): Promise<PluginRun> {
  const { timeouts, limits, readOnly, onLog, signal } = options;
  const terms = readInstanceOptions({ plugin, dataFolder, host: checkHost, timeouts, limits });
  const seenFolder = kind === "confined" ? confinedDataFolder : dataFolder;
  const { command, args, env, cwd = plugin.root } = describePlugin(plugin, seenFolder);
  const start: PluginProcessOptions = {
    launch: { file: command, argv0: command, args, env, cwd },
    ...{ plugin, dataFolder, interpreters, readOnly, limits: terms.confinementLimits, signal },
  };
  const process = await (kind === "confined"
    ? startConfined(start)
    : startUnconfined(start, kind === "bare" ? "group" : "auto"));
  const { maxMessageBytes } = terms.limits;
  const conversation = openConversation({ process, maxMessageBytes, onLog: onLog ?? (() => {}), signal });
  const { instanceId } = terms;
  const script = {
    conversation,
    manifest: plugin.manifest,
    instanceId,
    dataFolder: seenFolder,
    timeouts: terms.timeouts,
  };
  const end = async (): Promise<void> => {
    await process.kill();
    await conversation.read;
    conversation.close();
  };
  return { process, conversation, script, terms, end };
}
