import { findInterpreter, isConfinementError, openSandbox, probe } from "@berth/process-confinement";
import {
  type EscapeCommand,
  type EscapeLaunch,
  type EscapeProcess,
  type EscapeResult,
  escapeAttempts,
  runEscapes,
} from "@berth/process-confinement/escapes";
import { confine } from "@berth/process-confinement/launcher";
import { pluginSandbox } from "../../confine/plugin-sandbox.js";
import { visibleTrees } from "../../confine/visible-trees.js";
import type { RunSetting } from "../conversation/run-plugin.js";
import type { Ledger } from "../looks/ledger.js";

/** Each limit of a kit's command, and the attempt that goes over it. */
const limitAttempts = {
  memoryBytes: "memory",
  processes: "fork-bomb",
  diskBytes: "disk-fill",
  outputBytes: "output-flood",
} as const;
type LimitName = keyof typeof limitAttempts;
const limitNames = ["memoryBytes", "processes", "diskBytes", "outputBytes"] as const satisfies readonly LimitName[];

/** Only a command line can be handed a descriptor of this process: Node closes its own. */
const byDescriptor = "inherited-descriptor";
const advice = "do not run plugins here until it is understood: what holds plugins does not hold this";

/** The whole kit of process-confinement, in the sandbox that the plugin has. */
export async function tryKit(setting: RunSetting, ledger: Ledger): Promise<void> {
  const { signal, onStep = () => {} } = setting.options;
  const held = (await probe({ limits: limitNames, signal })).limits;
  const unheld = limitNames.filter((name) => !held.includes(name));
  for (const name of unheld) {
    ledger.skipped(`escape:${limitAttempts[name]}`, `nothing on this machine holds ${name} for this user`);
  }
  const leftOut: readonly string[] = unheld.map((name) => limitAttempts[name]);
  const ids = escapeAttempts.map(({ id }) => id).filter((id) => !leftOut.includes(id));
  let done = 0;
  const onResult = (result: EscapeResult): void => {
    done += 1;
    onStep(`escape ${done} of ${ids.length}: ${result.title}`);
    writeDown(result, ledger);
  };
  try {
    await runEscapes({
      wrap: (command, bound) => wrap(setting, held, command, bound),
      attempts: ids,
      onResult,
      signal,
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (!isConfinementError(error)) throw error;
    ledger.skipped("escape:kit", `${error.message}${error.cure === undefined ? "" : `: ${error.cure}`}`);
  }
}

/** The plugin's own sandbox, but for the folders and the limits of the kit. */
async function wrap(
  { plugin, interpreters, options }: RunSetting,
  held: readonly string[],
  { name, file, args, env, readOnly, workspace, limits }: EscapeCommand,
  signal: AbortSignal,
): Promise<EscapeProcess | EscapeLaunch> {
  const seen = [...(options.readOnly ?? []), ...readOnly, ...findInterpreter(file).trees];
  const trees = visibleTrees({ plugin, interpreters, readOnly: seen });
  if (name.startsWith(`escape-${byDescriptor}-`)) {
    const policy = { name, readable: trees, writable: [workspace], network: "none", cwd: workspace } as const;
    const [launcher = "", ...rest] = (await confine([file, ...args], policy)).argv;
    return { file: launcher, args: rest };
  }
  const { tmpBytes, ...bounds } = limits;
  const kept = Object.fromEntries(Object.entries(bounds).filter(([limit]) => held.includes(limit)));
  const command = { file, args, env, cwd: workspace };
  const data = { source: workspace, target: workspace };
  return openSandbox({ ...pluginSandbox({ trees, data, limits: kept, tmpBytes, command }), name, signal });
}

/** An attempt may believe that it succeeded: what this machine saw goes before. */
export function refusedWords(
  title: string,
  { outcome, name }: Pick<EscapeResult["answer"], "outcome" | "name">,
): string {
  const how = name === undefined ? "" : ` (${name})`;
  if (outcome === "refused") return `refused: ${title}${how}`;
  if (outcome !== "succeeded") return `refused: ${title}: ${outcome}${how}`;
  return `refused: ${title}: it did all that it could inside, and nothing of it was left or reached this machine`;
}

/** What a machine, or a user, cannot show is no fault of the plugin. */
const mayBeUnheld = ["without-protection", "offered"];

function writeDown({ id, outcome, answer, controls, title }: EscapeResult, ledger: Ledger): void {
  const name = `escape:${id}`;
  const said = `${title}: ${answer.outcome}${answer.name === undefined ? "" : ` (${answer.name})`}`;
  const unheld = controls.filter(({ held }) => !held);
  const why = unheld.map((each) => `${each.name} (${each.seen})`).join(", ");
  const nothing = `it shows nothing, since a control did not hold: ${why}`;
  if (outcome === "refused") ledger.passed(name, refusedWords(title, answer), { controls });
  else if (outcome === "escaped") ledger.failed(name, `it succeeded: ${said}`, advice, { controls });
  else if (unheld.every((each) => mayBeUnheld.includes(each.name))) ledger.skipped(name, nothing, { controls });
  else ledger.failed(name, nothing, "see controls, and try again", { controls });
}
