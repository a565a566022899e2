import { dataFolders } from "../../confine/plugin-environment.js";
import type { PluginExit, PluginProcess } from "../../confine/plugin-process.js";
import { isProcessPluginError } from "../../errors.js";
import type { Bench } from "../bench.js";
import { askOtherProtocol, askUnlawful } from "../conversation/rules.js";
import { type PluginRun, type RunKind, type RunSetting, runPlugin } from "../conversation/run-plugin.js";
import { beginScript, endScript, runScript, type ScriptSetting } from "../conversation/script.js";
import type { CheckCall } from "../files/check-file.js";
import { createNormalise } from "../transcript/normalise.js";
import { lineOf } from "../transcript/transcript.js";
import type { Ledger } from "./ledger.js";

const readLog = "read what it wrote to standard error (berth-plugin-host check --verbose), and PROTOCOL.md § 4";
const readProtocol = "answer as PROTOCOL.md says";

/** What a conversation gave. */
export interface Talk {
  /** The lines of its transcript; undefined when it did not start. */
  readonly lines: readonly string[] | undefined;
  /** Whether every answer was as PROTOCOL.md wants it. */
  readonly lawful: boolean;
}

/** Runs the script against the plugin and writes down what start, answers and end were like. */
export async function talk(
  setting: RunSetting,
  calls: readonly CheckCall[],
  bench: Bench,
  ledger: Ledger,
): Promise<Talk> {
  const kind = kindOf(setting);
  const run = await tryStart(setting, await bench.dataFolder(), kind, ledger);
  if (run === undefined) return { lines: undefined, lawful: false };
  const { started, problems } = await endAfter(run, ledger, () => converse(run, calls, bench, ledger));
  if (problems === undefined) return { lines: started ? transcriptOf(run, setting, bench) : undefined, lawful: false };
  const further = [
    ...(await askApart(setting, bench, ledger, askOtherProtocol)),
    ...(await askApart(setting, bench, ledger, askUnlawful)),
  ];
  const lawful = judgeAnswers([...problems, ...further], ledger);
  return { lines: transcriptOf(run, setting, bench), lawful };
}

/** Asks in a process of its own, so that nothing depends on what was asked before. @returns what is wrong, a sentence each. */
async function askApart(
  setting: RunSetting,
  bench: Bench,
  ledger: Ledger,
  ask: (script: ScriptSetting) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  try {
    const run = await runPlugin(setting, await bench.dataFolder(), kindOf(setting));
    return await endAfter(run, ledger, async () => {
      try {
        return [...(await ask(run.script)), ...run.conversation.remarks];
      } catch (error) {
        if (!isProcessPluginError(error)) throw error;
        return [error.message];
      }
    });
  } catch (error) {
    setting.options.signal?.throwIfAborted();
    if (!isProcessPluginError(error) || error.code === "OPTION_INVALID") throw error;
    return [`it could not be started again: ${error.message}`];
  }
}

/** As the host's own end of input has to end it, whatever it was asked before. */
export async function tryEndOfInput(setting: RunSetting, bench: Bench, ledger: Ledger): Promise<void> {
  const kind = kindOf(setting);
  const run = await runPlugin(setting, await bench.dataFolder(), kind);
  await endAfter(run, ledger, async () => {
    const { exitMs } = run.terms.timeouts;
    await beginScript(run.script);
    run.process.endInput();
    const exit = await exitWithin(run.process, exitMs);
    if (exit !== undefined) return ledger.passed("input-end", "it ended when its standard input did");
    const seen = `it still ran ${exitMs} ms after the end of its standard input`;
    ledger.failed("input-end", seen, "exit when standard input ends: its host may have died (PROTOCOL.md § 2)");
  });
}

function kindOf({ options }: RunSetting): RunKind {
  return options.allowUnconfined === true ? "unconfined" : "confined";
}

async function tryStart(
  setting: RunSetting,
  dataFolder: string,
  kind: RunKind,
  ledger: Ledger,
): Promise<PluginRun | undefined> {
  try {
    return await runPlugin(setting, dataFolder, kind);
  } catch (error) {
    setting.options.signal?.throwIfAborted();
    if (!isProcessPluginError(error) || error.code === "OPTION_INVALID") throw error;
    ledger.failed("start", error.message, error.advice ?? "make its executable one that can be run here");
    return undefined;
  }
}

interface Outcome {
  readonly started: boolean;
  /** Undefined when it could not be asked to the end: the ledger says why. */
  readonly problems: readonly string[] | undefined;
}

async function converse(run: PluginRun, calls: readonly CheckCall[], bench: Bench, ledger: Ledger): Promise<Outcome> {
  const { script, conversation } = run;
  let started = false;
  try {
    const began = await beginScript(script);
    if (typeof began === "string") {
      ledger.failed("start", began, readProtocol);
      return { started, problems: undefined };
    }
    started = true;
    const unserved = began.unserved ? '; its MCP is not served and not asked, since plugin.json has "mcp": false' : "";
    ledger.passed("start", `it was created and started, ${run.process.confinement}${unserved}`);
    const problems = await runScript(script, began, calls, bench.targets);
    problems.push(...(await endScript(script, began)));
    await lookAtEnd(run, ledger);
    const last = conversation.fault?.code === "PLUGIN_PROTOCOL" ? [conversation.fault.message] : [];
    return { started, problems: [...problems, ...conversation.remarks, ...last] };
  } catch (error) {
    if (!isProcessPluginError(error)) throw error;
    const stderr = conversation.lastStderr;
    const seen = stderr === undefined ? error.message : `${error.message}; its last line of standard error: ${stderr}`;
    ledger.failed(started ? "protocol" : "start", seen, error.code === "PLUGIN_PROTOCOL" ? readProtocol : readLog);
    return { started, problems: undefined };
  }
}

function judgeAnswers(problems: readonly string[], ledger: Ledger): boolean {
  if (problems.length > 0) ledger.failed("protocol", problems.join("; "), readProtocol);
  else ledger.passed("protocol", "its answers are as PROTOCOL.md wants them");
  return problems.length === 0;
}

/** After the answer to `destroy`. */
async function lookAtEnd({ process, terms, conversation }: PluginRun, ledger: Ledger): Promise<void> {
  const { exitMs } = terms.timeouts;
  const exit = await exitWithin(process, exitMs);
  const advice = "exit with 0 after the answer to destroy (PROTOCOL.md § 4)";
  if (exit === undefined)
    return ledger.failed("end", `it still ran ${exitMs} ms after it had answered destroy`, advice);
  await conversation.read;
  if (exit.code === 0) return ledger.passed("end", "it exited with 0 after destroy, and nothing of it was left");
  ledger.failed("end", `after destroy it ended with ${exit.signal ?? `status ${exit.code}`}`, advice);
}

/** Whatever happened, no process of it is left, or the ledger says so. */
async function endAfter<T>(run: PluginRun, ledger: Ledger, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await run.end().catch((error: unknown) => {
      if (!isProcessPluginError(error)) throw error;
      ledger.failed("end", error.message, error.advice ?? "end the processes that are left");
    });
  }
}

async function exitWithin({ exited }: PluginProcess, waitMs: number): Promise<PluginExit | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, waitMs, undefined);
  });
  try {
    return await Promise.race([exited, over]);
  } finally {
    clearTimeout(timer);
  }
}

function transcriptOf({ script, conversation }: PluginRun, { plugin }: RunSetting, bench: Bench): readonly string[] {
  const { targets } = bench;
  const values = {
    PLUGIN_ROOT: plugin.root,
    DATA: script.dataFolder,
    TMP: `${script.dataFolder}/${dataFolders.tmp}`,
    SECRETS: targets.secretsDir,
    OTHER: targets.otherDataDir,
    INSTANCE: script.instanceId,
    PORT: targets.port,
  };
  const normalise = createNormalise(values, plugin.manifest.name);
  return conversation.entries.map((entry) => lineOf(entry, normalise));
}
