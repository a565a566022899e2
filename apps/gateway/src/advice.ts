import { resolve } from "node:path";
import { foldersOfNpm } from "./caller-environment.js";
import type { RunCommand } from "./run-catalog.js";
import { shellQuote } from "./shell-quote.js";
import { usualStatePath } from "./state-folder.js";

/** Reasons that pinning again answers. Others carry the measuring package's own advice. */
const pinReasons = new Set(
  (
    "NOT_PINNED DIGEST_MISMATCH INTERPRETER_CHANGED TOOL_CHANGED TOOL_NOT_PINNED TOOL_WITHDRAWN PROMPT_CHANGED PROMPT_NOT_PINNED " +
    "PROMPT_WITHDRAWN RESOURCE_TEMPLATE_CHANGED RESOURCE_TEMPLATE_NOT_PINNED RESOURCE_TEMPLATE_WITHDRAWN"
  ).split(" "),
);

/** What to do about a refusal that a person may answer by pinning. */
export function adviseAbout(reason: string, pinLine: string, whereToIgnore: string): string | undefined {
  if (!pinReasons.has(reason)) return adviseAboutPath(reason);
  const key = reason === "NOT_PINNED" ? " (or set attestation.allowUnmeasuredSpawn in gateway.yaml)" : "";
  // A server's own data is the change that comes again after each pinning.
  const data =
    reason === "DIGEST_MISMATCH" ? `If it writes data into its own folder, leave that out with ${whereToIgnore}. ` : "";
  return `${data}To see what it is and accept it, run: ${pinLine}${key}`;
}

/** What to do when a program is not found because npm's folders are not looked in. */
export function adviseAboutPath(reason: string): string | undefined {
  if (reason !== "COMMAND_NOT_FOUND" && reason !== "INTERPRETER_NOT_FOUND") return undefined;
  if (foldersOfNpm(process.env).length === 0) return undefined;
  return "node_modules/.bin folders on PATH are not looked in, since a client seldom has them: write the program's whole path";
}

/** What the line of `run` said, and the line of `pin` has to say too. */
export interface RunLineOptions {
  readonly state: string;
  readonly env: readonly string[];
  readonly measureIgnore: readonly string[];
}

/** The command that shows and accepts a change, for the folder in which the client starts its servers. */
export function pinCommandLine({ command, args, cwd }: RunCommand, options: RunLineOptions): string {
  const state = resolve(options.state);
  const place = state === usualStatePath() ? [] : ["--state", state];
  const env = options.env.flatMap((name) => ["--env", name]);
  const ignored = options.measureIgnore.flatMap((glob) => ["--measure-ignore", glob]);
  const words = ["berth-gateway", "pin", ...place, ...env, ...ignored, "--", command, ...args];
  return `${shellQuote(["cd", cwd])} && ${shellQuote(words)}`;
}
