import { isMap, isScalar, LineCounter, type ParsedNode, parseDocument } from "yaml";
import * as z from "zod";
import type { GatewayConfig } from "./config.js";

/** One thing that is wrong with a configuration. Values are not shown. */
export interface ConfigProblem {
  readonly line: number;
  readonly message: string;
}

/** A configuration, or everything that is wrong with it. */
export type ConfigReading =
  | { readonly ok: true; readonly config: GatewayConfig }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

const milliseconds = z.int().min(1).max(86_400_000).optional();
const kib = 1024;

const gatewayConfig = z.strictObject({
  names: z.enum(["prefixed", "plain"]).default("prefixed"),
  attestation: z
    .strictObject({
      allowUnmeasuredSpawn: z.boolean().default(false),
      guard: z.enum(["recheck", "snapshot", "none"]).default("recheck"),
    })
    .prefault({}),
  audit: z.strictObject({ durability: z.enum(["each", "batch", "none"]).default("batch") }).prefault({}),
  deadlines: z
    .strictObject({ startMs: milliseconds, listMs: milliseconds, callMs: milliseconds, callMaxMs: milliseconds })
    .prefault({}),
  limits: z
    .strictObject({
      maxFrameBytes: z
        .int()
        .min(kib)
        .max(64 * kib * kib)
        .optional(),
      maxQueuedBytes: z
        .int()
        .min(kib)
        .max(256 * kib * kib)
        .optional(),
    })
    .prefault({}),
  log: z.strictObject({ level: z.enum(["debug", "info", "warn", "error"]).default("info") }).prefault({}),
}) satisfies z.ZodType<GatewayConfig>;

/** Reads the text of a `gateway.yaml` (YAML 1.2 core, one document). An empty text is the default configuration. Never throws. */
export function readConfig(text: string): ConfigReading {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  if (document.errors.length > 0) {
    return {
      ok: false,
      problems: document.errors.map((error) => ({ line: lineAt(error.pos[0]), message: error.message })),
    };
  }
  const result = gatewayConfig.safeParse(tryPlainValue(document) ?? {});
  if (result.success) return { ok: true, config: result.data };
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue, document.contents, lineAt));
  return { ok: false, problems: problems.sort((a, b) => a.line - b.line) };
}

/** Aliases that would grow without end count as no value, which the schema refuses. */
function tryPlainValue(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS();
  } catch {
    return "aliases"; // not a mapping: reported as such
  }
}

function problemsOf(
  issue: z.core.$ZodIssue,
  root: ParsedNode | null,
  lineAt: (offset: number) => number,
): ConfigProblem[] {
  const lineOf = (path: readonly PropertyKey[]): number => lineAt(placeOf(root, path));
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      line: lineOf([...issue.path, key]),
      message: `${[...issue.path, key].join(".")} is an unknown key`,
    }));
  }
  return [{ line: lineOf(issue.path), message: `${issue.path.join(".") || "the document"}: ${issue.message}` }];
}

/** Offset of the key at `path`, or of the nearest place above it that exists. */
function placeOf(root: ParsedNode | null, path: readonly PropertyKey[]): number {
  let node: unknown = root;
  let offset = root?.range[0] ?? 0;
  for (const step of path) {
    if (!isMap(node)) return offset;
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
    if (pair === undefined) return offset;
    if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
    node = pair.value;
  }
  return offset;
}
