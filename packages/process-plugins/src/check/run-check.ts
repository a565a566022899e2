import type { InspectedPlugin } from "../tree/inspected-plugin.js";
import { openBench } from "./bench.js";
import { readCheckOptions } from "./check-options.js";
import type { CheckOptions, CheckReport } from "./check-plugin.js";
import type { RunSetting } from "./conversation/run-plugin.js";
import { copyFolder } from "./copy/copy-folder.js";
import { lookAtEscapes, ownEscapes } from "./escapes/look-at-escapes.js";
import type { CheckContext } from "./looks/check-context.js";
import { type Ledger, openLedger } from "./looks/ledger.js";
import { layoutAdvice, lookAtConfinement, lookAtManifest, lookAtTree } from "./looks/look-at-folder.js";
import { compareTranscript, keepTranscript } from "./looks/look-at-transcript.js";
import { makeReady, type ReadyCopy } from "./looks/make-ready.js";
import { talk, tryEndOfInput } from "./looks/talk.js";

/**
 * Looks at a plugin as its host would, and further: manifest, folder, sandbox, start, the answers to a fixed script, its golden
 * transcript `expected.jsonl`, its end, and with `escapes` whether it can leave its sandbox. Only a private temporary copy is used;
 * that and all processes are gone when it resolves. What is wrong with the plugin is told in the report.
 *
 * `prepare` runs with the rights of this user and **outside** of any sandbox, and so do the controls of `escapes`.
 * @throws {ProcessPluginError} `OPTION_INVALID`. Also the signal's reason.
 */
export async function checkPlugin(options: CheckOptions): Promise<CheckReport> {
  options.signal?.throwIfAborted();
  const terms = await readCheckOptions(options);
  const bench = await openBench();
  try {
    return await check({ options: terms, bench, ledger: openLedger() });
  } finally {
    await bench.close();
  }
}

/** What is known of a plugin at the end. */
interface Known {
  readonly name?: string | undefined;
  readonly plugin?: InspectedPlugin | undefined;
  readonly recorded?: string | undefined;
}

async function check(context: CheckContext): Promise<CheckReport> {
  const { name, plugin, recorded } = await look(context);
  if (wantsEscapes(context)) skipEscapes(context.ledger);
  const findings = context.ledger.findings();
  const ok = findings.every(({ outcome }) => outcome !== "failed");
  return { ok, plugin: name, digest: plugin?.digest, findings, recorded };
}

function wantsEscapes({ options }: CheckContext): boolean {
  return options.escapes === true || options.escapes === "own";
}

/** Those that were not reached. */
function skipEscapes(ledger: Ledger): void {
  const found = ledger.findings();
  const failed = found.find(({ outcome }) => outcome === "failed")?.name;
  for (const name of ownEscapes) {
    if (!found.some((finding) => finding.name === name)) ledger.skipped(name, `not tried, since ${failed} failed`);
  }
}

/** Each look needs those before it; the ledger skips what is not reached. */
async function look(context: CheckContext): Promise<Known> {
  const { options, bench, ledger } = context;
  const step = options.onStep ?? (() => {});
  step(`copy ${options.folder}`);
  const problems = await copyFolder(options.folder, bench.copy, { signal: options.signal });
  const name = (await lookAtManifest(context))?.name;
  if (name === undefined) return {};
  if (problems.length > 0) {
    ledger.failed("tree", problems.join("; "), layoutAdvice);
    return { name };
  }
  const ready = await makeReady(context);
  if (ready === undefined) return { name };
  step("measure the copy");
  const plugin = await lookAtTree(context);
  if (plugin === undefined) return { name };
  step("try the sandbox");
  if (!(await lookAtConfinement(context))) return { name, plugin };
  const recorded = await lookAtAnswers(context, plugin, ready);
  // The transcript counts in the digest: what is told is that of the folder as it is now.
  return { name, plugin: recorded === undefined ? plugin : await lookAtTree(context), recorded };
}

/** @returns the path of the transcript that was recorded. */
async function lookAtAnswers(
  context: CheckContext,
  plugin: InspectedPlugin,
  { file, interpreters }: ReadyCopy,
): Promise<string | undefined> {
  const { options, bench, ledger } = context;
  const setting: RunSetting = { plugin, options, interpreters };
  options.onStep?.("start it and ask");
  const { lines, lawful } = await talk(setting, file.calls, bench, ledger);
  if (lines === undefined) return undefined;
  let recorded: string | undefined;
  if (options.record !== true) await compareTranscript(context, lines);
  else if (lawful) recorded = await keepTranscript(context, lines);
  else ledger.skipped("transcript", "not recorded, since its answers are not what PROTOCOL.md wants");
  options.onStep?.("end its input");
  await tryEndOfInput(setting, bench, ledger);
  if (wantsEscapes(context)) await lookAtEscapes(setting, bench, ledger);
  return recorded;
}
