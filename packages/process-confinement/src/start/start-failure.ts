import type { Readable } from "node:stream";
import { ConfinementError } from "../errors.js";
import { within } from "../waits/within.js";
import { readKernelSettings, whyNoSandbox } from "./why-no-sandbox.js";

const maxWordsBytes = 4_096;
/** Who holds the stream may have been left behind; what bubblewrap itself says is there at once. */
const lastWordsMs = 250;

/** What was written to a stream of a sandbox that did not start, at most 4 KiB. */
export async function readLastWords(stderr: Readable): Promise<string> {
  let words = Buffer.alloc(0);
  stderr.on("data", (chunk: Buffer) => {
    words = Buffer.concat([words, chunk.subarray(0, maxWordsBytes - words.length)]);
  });
  const closed = new Promise<void>((resolve) => {
    stderr.once("close", resolve);
  });
  await within(closed, lastWordsMs);
  return words.toString("utf8").trim();
}

/**
 * Why bubblewrap did not come up, from what it said: `CONFINEMENT_UNAVAILABLE` with a cure when this machine is known to be the
 * cause, else `SANDBOX_NOT_STARTED`.
 */
export function explainFailure(words: string): ConfinementError {
  const said = words === "" ? "bubblewrap ended without a word" : words;
  const why = whyNoSandbox(words, readKernelSettings());
  if (why === undefined) return new ConfinementError("SANDBOX_NOT_STARTED", said);
  return new ConfinementError("CONFINEMENT_UNAVAILABLE", `${why.cause}: ${said}`, { cure: why.cure });
}
