import { resolve } from "node:path";
import { foldersOfNpm } from "./caller-environment.js";
import type { RunCommand } from "./run-catalog.js";
import { shellQuote } from "./shell-quote.js";
import { defaultStatePath } from "./state-folder.js";

/** Reasons that pinning again answers. Others carry the measuring package's own advice. */
const pinReasons = new Set(
  (
    "NOT_PINNED DIGEST_MISMATCH INTERPRETER_CHANGED TOOL_CHANGED TOOL_NOT_PINNED TOOL_WITHDRAWN PROMPT_CHANGED PROMPT_NOT_PINNED " +
    "PROMPT_WITHDRAWN RESOURCE_TEMPLATE_CHANGED RESOURCE_TEMPLATE_NOT_PINNED RESOURCE_TEMPLATE_WITHDRAWN"
  ).split(" "),
);

/** What to do about a refusal that a person may answer by pinning. */
export function adviseAbout(reason: string, pinLine: string): string | undefined {
  if (!pinReasons.has(reason)) return adviseAboutPath(reason);
  const key = reason === "NOT_PINNED" ? " (or set attestation.allowUnmeasuredSpawn in gateway.yaml)" : "";
  return `To see what it is and accept it, run: ${pinLine}${key}`;
}

/** What to do when a program is not found because npm's folders are not looked in. */
export function adviseAboutPath(reason: string): string | undefined {
  if (reason !== "COMMAND_NOT_FOUND" && reason !== "INTERPRETER_NOT_FOUND") return undefined;
  if (foldersOfNpm(process.env).length === 0) return undefined;
  return "npm put node_modules/.bin on PATH for this command only, so it is not looked in: write the program's whole path";
}

/** The command that shows and accepts a change, for the folder in which the client starts its servers. */
export function pinCommandLine({ command, args, cwd }: RunCommand, state: string): string {
  const place = resolve(state) === defaultStatePath(process.env) ? [] : ["--state", resolve(state)];
  return `${shellQuote(["cd", cwd])} && ${shellQuote(["berth-gateway", "pin", ...place, "--", command, ...args])}`;
}
