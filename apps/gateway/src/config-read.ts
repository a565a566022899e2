import { checkForm, type DocumentReading, readDocument } from "@berth/command-line/config";
import * as z from "zod";
import type { GivenConfig } from "./config.js";

export { describeProblems } from "@berth/command-line/config";

const milliseconds = z.int().min(1).max(86_400_000).optional();
const kib = 1024;

const path = z.string().min(1).max(4096);
const plugins = z
  .strictObject({
    file: path,
    cwd: path.optional(),
    installer: z.enum(["auto", "uv", "pip"]).default("auto"),
    index: z.string().min(1).max(4096).optional(),
    wheels: z.array(path).min(1).max(100).optional(),
    requireHashes: z.boolean().default(false),
    onlyWheels: z.boolean().default(false),
    confineInstalls: z.boolean().optional(),
  })
  .refine(({ index, wheels }) => index === undefined || wheels === undefined, "index and wheels exclude one another")
  .refine(({ confineInstalls, wheels }) => confineInstalls !== true || wheels !== undefined, {
    message: "confineInstalls needs wheels: a confined install has no network",
  });

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
  plugins: z.preprocess((given) => (typeof given === "string" ? { file: given } : given), plugins.optional()),
  log: z.strictObject({ level: z.enum(["debug", "info", "warn", "error"]).default("info") }).prefault({}),
}) satisfies z.ZodType<GivenConfig>;

/** Reads the text of a `gateway.yaml`. An empty text is the default configuration. Never throws. */
export function readConfig(text: string): DocumentReading<GivenConfig> {
  return readDocument(text, (value) => checkForm(gatewayConfig, value));
}
