import type { z as Zod } from "zod";
import type { PluginManifest } from "./manifest.js";
import { isReserved } from "./reserved-names.js";

/** Bounds of what a manifest may hold, in bytes of UTF-8 (PROTOCOL.md § 1). */
export const manifestLimits = {
  bytes: 262_144,
  versionBytes: 256,
  commandBytes: 4_096,
  args: 64,
  argBytes: 4_096,
  variables: 64,
  valueBytes: 32_768,
} as const;

/** Semantic Versioning 2.0.0, the expression that its page suggests. */
const semanticVersion =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;

/** The schema of plugin.json; each message goes on after the key. */
export function manifestSchema(z: typeof Zod): Zod.ZodType<PluginManifest> {
  const bounded = (maxBytes: number): Zod.ZodType<string> =>
    z.string("is no text").superRefine((text, context) => {
      for (const message of textFaults(text, maxBytes)) context.addIssue({ code: "custom", message });
    });
  const command = bounded(manifestLimits.commandBytes)
    .refine((path) => path.startsWith("./"), 'does not begin with "./"')
    .refine((path) => !path.split("/").includes(".."), 'has a segment ".."');
  const args = z
    .array(bounded(manifestLimits.argBytes), "is no list of texts")
    .max(manifestLimits.args, `has more than ${manifestLimits.args} entries`);
  return z.strictObject(
    {
      name: z.string("is no text").regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "does not match ^[a-z0-9][a-z0-9-]{0,63}$"),
      version: bounded(manifestLimits.versionBytes).refine(
        (text) => text.length <= manifestLimits.versionBytes && semanticVersion.test(text),
        "is no semantic version (2.0.0), such as 1.0.0",
      ),
      protocol: z.literal(1, "is not 1, the protocol that this host speaks"),
      process: z.strictObject({ command, args: args.default([]), env: environmentSchema(z) }, "is no object"),
      permissions: z
        .strictObject({ network: z.literal("none", 'is not "none"').default("none") }, "is no object")
        .default({ network: "none" }),
      mcp: z.boolean("is neither true nor false").default(true),
    },
    "is no object",
  );
}

function environmentSchema(z: typeof Zod): Zod.ZodType<Readonly<Record<string, string>>> {
  return z
    .custom<Readonly<Record<string, string>>>(isObject, "is no object")
    .superRefine((variables, context) => {
      const entries = Object.entries(variables);
      const fault = (path: readonly string[], message: string): void =>
        context.addIssue({ code: "custom", path: [...path], message });
      if (entries.length > manifestLimits.variables) fault([], `has more than ${manifestLimits.variables} variables`);
      for (const [name, value] of entries) for (const message of variableFaults(name, value)) fault([name], message);
    })
    .default({});
}

function* variableFaults(name: string, value: unknown): Generator<string> {
  if (isReserved(name)) yield "is a reserved name";
  else if (!/^[A-Z_][A-Z0-9_]{0,63}$/.test(name)) yield "does not match ^[A-Z_][A-Z0-9_]{0,63}$";
  if (typeof value === "string") yield* textFaults(value, manifestLimits.valueBytes);
  else yield "is no text";
}

/** What the system takes as an argument or a variable: no NUL, nothing that UTF-8 cannot write. */
function* textFaults(text: string, maxBytes: number): Generator<string> {
  if (text.includes("\0")) yield "holds a NUL character";
  if (/\p{Surrogate}/u.test(text)) yield "holds half of a surrogate pair";
  if (Buffer.byteLength(text) > maxBytes) yield `has more than ${maxBytes} bytes`;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
