import type { Readable } from "node:stream";
import { ConfinementError } from "../errors.js";
import { within } from "../waits/within.js";

const maxWords = 4_096;
const lastWordsMs = 250;

/** What was written to a stream of a sandbox that did not start, at most a few kilobytes. */
export async function readLastWords(stderr: Readable): Promise<string> {
  let words = Buffer.alloc(0);
  stderr.on("data", (chunk: Buffer) => {
    words = Buffer.concat([words, chunk.subarray(0, maxWords - words.length)]);
  });
  const closed = new Promise<void>((resolve) => {
    stderr.once("close", resolve);
  });
  await within(closed, lastWordsMs);
  return words.toString("utf8").trim();
}

/** Why bubblewrap did not come up, from what it said. */
export function explainFailure(words: string): ConfinementError {
  const cure = cures.find(({ pattern }) => pattern.test(words))?.cure;
  const said = words === "" ? "bubblewrap ended without a word" : words;
  if (cure === undefined) return new ConfinementError("SANDBOX_NOT_STARTED", said);
  return new ConfinementError("CONFINEMENT_UNAVAILABLE", said, { cure });
}

const cures: readonly { readonly pattern: RegExp; readonly cure: string }[] = [
  {
    pattern: /Unknown option --(?:size|perms)/,
    cure: "install bubblewrap 0.7 or newer: this one cannot bound a file system in memory",
  },
  {
    pattern: /setting up uid map|Creating new namespace failed|No permissions to creat|max_user_namespaces/i,
    cure: "let this user make user namespaces: sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000; on Ubuntu an AppArmor profile for bwrap, or sysctl kernel.apparmor_restrict_unprivileged_userns=0",
  },
];
