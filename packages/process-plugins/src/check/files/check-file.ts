import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { findRepeatedKeys } from "../../manifest/repeated-keys.js";

/** One further call of a plugin's `check.json`. */
export type CheckCall =
  | { readonly method: string; readonly params: JsonObject }
  | { readonly hook: string; readonly payload: JsonValue };

/** A plugin's `check.json`, with defaults filled in. */
export interface CheckFile {
  /** What is run in the copy before it is measured. */
  readonly prepare: readonly string[] | undefined;
  /** Paths, `env:NAME` or `file:PATH`, as they are written. */
  readonly interpreters: readonly string[];
  readonly calls: readonly CheckCall[];
}

/** What reading it gives: every fault at once. */
export type CheckFileReading =
  | { readonly ok: true; readonly file: CheckFile }
  | { readonly ok: false; readonly problems: readonly string[] };

export const emptyCheckFile: CheckFile = { prepare: undefined, interpreters: [], calls: [] };
/** Most bytes of a check.json. */
export const maxCheckFileBytes: number = 2 ** 18;

/** Unknown keys are refused, and keys that stand twice. */
export async function readCheckFile(text: string): Promise<CheckFileReading> {
  const { z } = await import("zod");
  const noNul = z.string().refine((each) => !each.includes("\0"), "holds a NUL");
  const schema = z.strictObject({
    prepare: z.array(noNul.max(4_096)).min(1).max(64).optional(),
    interpreters: z.array(noNul.min(1).max(4_096)).max(16).default([]),
    calls: z
      .array(
        z.union(
          [
            z.strictObject({ method: z.string().min(1).max(200), params: z.record(z.string(), z.json()).default({}) }),
            z.strictObject({ hook: z.string().min(1).max(200), payload: z.json() }),
          ],
          { error: 'is neither {"method", "params"}, params an object, nor {"hook", "payload"}' },
        ),
      )
      .max(1_000)
      .default([]),
  });
  const value = parse(text);
  if (value === undefined) return { ok: false, problems: ["check.json is no JSON"] };
  const repeated = findRepeatedKeys(Buffer.from(text));
  if (repeated.length > 0) return { ok: false, problems: repeated.map((problem) => `check.json: ${problem}`) };
  const read = schema.safeParse(value);
  if (read.success) return { ok: true, file: { ...read.data, prepare: read.data.prepare } };
  return {
    ok: false,
    problems: read.error.issues.map((issue) => `check.json: ${placeOf(issue.path)}${issue.message}`),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // told as what is no JSON
  }
}

function placeOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "" : `${path.map(String).join(".")}: `;
}
