import type { z as Zod } from "zod";
import type { ManifestReading } from "./manifest.js";
import { manifestLimits, manifestSchema } from "./manifest-schema.js";
import { createProblemList } from "./problem-list.js";
import { findRepeatedKeys, pathText } from "./repeated-keys.js";

/** Reads the bytes of a `plugin.json` (PROTOCOL.md § 1). Starts nothing, opens nothing. */
export async function readManifestBytes(bytes: Uint8Array): Promise<ManifestReading> {
  if (bytes.length > manifestLimits.bytes) return refused([tooLarge]);
  try {
    return await readManifest(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    if (error instanceof TypeError) return refused(["plugin.json is not UTF-8"]);
    throw error;
  }
}

/** Reads the text of a `plugin.json`, and tells all faults at once (PROTOCOL.md § 1). */
export async function readManifest(text: string): Promise<ManifestReading> {
  if (Buffer.byteLength(text) > manifestLimits.bytes) return refused([tooLarge]);
  if (text.startsWith("\u{feff}")) return refused(["plugin.json begins with a byte order mark"]);
  const parsed = parse(text);
  if ("fault" in parsed) return refused([parsed.fault]);
  const problems = createProblemList();
  for (const problem of findRepeatedKeys(Buffer.from(text))) problems.add(problem);
  const { z } = await import("zod"); // on first use: it takes 40 ms and 15 MB
  const reading = manifestSchema(z).safeParse(parsed.value, { reportInput: true });
  for (const issue of reading.error?.issues ?? []) for (const problem of sentences(issue)) problems.add(problem);
  const found = problems.all();
  return found.length === 0 && reading.success ? { ok: true, manifest: reading.data } : refused(found);
}

const tooLarge = `plugin.json is larger than ${manifestLimits.bytes} bytes`;

function refused(problems: readonly string[]): ManifestReading {
  return { ok: false, problems };
}

/** The place alone, not the parser's words: they quote the text. */
function parse(text: string): { readonly value: unknown } | { readonly fault: string } {
  try {
    const value: unknown = JSON.parse(text);
    return { value };
  } catch (error) {
    const place = error instanceof Error ? /at position \d+(?: \(line \d+ column \d+\))?/.exec(error.message) : null;
    return { fault: `plugin.json is not JSON${place === null ? "" : `: ${place[0]}`}` };
  }
}

function sentences(issue: Zod.core.$ZodIssue): readonly string[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => `${pathText([...issue.path, key])} is no key of a manifest`);
  const place = issue.path.length === 0 ? "plugin.json" : pathText(issue.path);
  return [`${place} ${isMissing(issue) ? "is missing" : issue.message}`];
}

function isMissing(issue: Zod.core.$ZodIssue): boolean {
  return (
    issue.path.length > 0 &&
    issue.input === undefined &&
    (issue.code === "invalid_type" || issue.code === "invalid_value")
  );
}
