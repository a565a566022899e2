import { realpath, stat } from "node:fs/promises";
import { ProcessPluginError } from "../errors.js";
import { createProblemList, type ProblemList } from "../manifest/problem-list.js";
import { checkFolder, nameText } from "./check-folder.js";
import { findExecutable } from "./find-executable.js";
import { type InspectTerms, readInspectOptions } from "./inspect-options.js";
import type { InspectedPlugin, InspectOptions } from "./inspected-plugin.js";
import { measurePlugin } from "./measure-plugin.js";
import { readManifestFile } from "./read-manifest-file.js";
import { faultOf } from "./walk-folder.js";

/**
 * Reads the manifest of a plugin's folder, checks the folder, and measures all of it. Starts nothing.
 * @throws {ProcessPluginError} `PLUGIN_REJECTED` with every fault of manifest and folder in `problems`; `PLUGIN_CHANGED` when the digest is not
 * the admitted one, or the folder changed meanwhile; `OPTION_INVALID`. Also the signal's reason.
 */
export async function inspectPlugin(folder: string, options: InspectOptions = {}): Promise<InspectedPlugin> {
  const terms = readInspectOptions(options);
  terms.signal?.throwIfAborted();
  const root = await findRoot(folder);
  const found = await checkPlugin(root, terms);
  const measured = await measurePlugin({ root, ...found }, terms);
  const { digest, files, bytes, interpreter } = measured;
  if (terms.digest !== undefined && terms.digest !== digest) throw changed(found.manifest.name, terms.digest, digest);
  return { root, ...found, interpreter: interpreter?.path, digest, files, bytes };
}

/**
 * Looks at a plugin once more before another start: at everything but the bytes, which whoever starts it measures anyway.
 * @throws {ProcessPluginError} `PLUGIN_REJECTED`, `OPTION_INVALID`. Also the signal's reason.
 */
export async function inspectAgain({ root }: InspectedPlugin, options: InspectOptions = {}): Promise<void> {
  await checkPlugin(root, readInspectOptions(options));
}

/** Whether the path still leads to the folder that was inspected; not when it cannot be looked at. */
export async function leadsTo(folder: string, { root }: InspectedPlugin): Promise<boolean> {
  return (await realpath(folder).catch(() => undefined)) === root;
}

async function findRoot(folder: string): Promise<string> {
  try {
    const root = await realpath(folder);
    if ((await stat(root)).isDirectory()) return root;
  } catch (error) {
    throw rejected(folder, undefined, [`the folder ${nameText(folder)} cannot be looked at (${faultOf(error)})`]);
  }
  throw rejected(folder, undefined, [`${nameText(folder)} is no folder`]);
}

async function checkPlugin(
  root: string,
  terms: InspectTerms,
): Promise<Pick<InspectedPlugin, "manifest" | "executable">> {
  const reading = await readManifestFile(root);
  const problems = createProblemList();
  for (const problem of reading.ok ? [] : reading.problems) problems.add(problem);
  const executable = reading.ok ? await executableOf(root, reading.manifest.process.command, problems) : undefined;
  const inFolder = createProblemList();
  await checkFolder(root, terms, inFolder);
  // The system lists names in any order.
  for (const problem of [...inFolder.all()].sort()) problems.add(problem);
  const found = problems.all();
  if (reading.ok && executable !== undefined && found.length === 0) return { manifest: reading.manifest, executable };
  throw rejected(root, reading.ok ? reading.manifest.name : undefined, found);
}

async function executableOf(root: string, command: string, problems: ProblemList): Promise<string | undefined> {
  const finding = await findExecutable(root, command);
  if ("path" in finding) return finding.path;
  problems.add(finding.problem);
  return undefined;
}

function rejected(folder: string, plugin: string | undefined, problems: readonly string[]): ProcessPluginError {
  const more = problems.length > 1 ? `; and ${problems.length - 1} more` : "";
  return new ProcessPluginError("PLUGIN_REJECTED", `${nameText(folder)} is rejected: ${problems[0]}${more}`, {
    plugin,
    problems,
    advice: adviceOn(problems),
  });
}

function adviceOn(problems: readonly string[]): string {
  const has = (words: RegExp): boolean => problems.some((problem) => words.test(problem));
  const advice = ["correct each"];
  if (has(/ has no execute bit$/)) advice.push("chmod +x the file of process.command");
  if (has(/ may be written by its group | is set-user-ID /))
    advice.push("chmod -R go-w,ug-s FOLDER for what others could write");
  return advice.length > 1 ? advice.join("; ") : "correct each: PROTOCOL.md § 1 says what may be in the folder";
}

function changed(plugin: string, admitted: string, digest: string): ProcessPluginError {
  return new ProcessPluginError("PLUGIN_CHANGED", `${plugin} has the digest ${digest}, and ${admitted} was admitted`, {
    plugin,
    measured: digest,
    advice: "look at what changed, then admit the new digest",
  });
}
