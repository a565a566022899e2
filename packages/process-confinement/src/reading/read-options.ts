import type { SandboxOptions } from "../sandbox.js";
import { readPolicy } from "./read-policy.js";
import { createReader, type ValueReader } from "./read-values.js";
import type { SandboxTerms } from "./sandbox-terms.js";

const longest = 600_000;
/** What the kernel takes as one argument or variable (MAX_ARG_STRLEN), its NUL included. */
const maxArgumentLength = 131_071;
/** bubblewrap takes 9_000 arguments in all, three for each variable. */
const maxArguments = 1_024;
const maxVariables = 1_024;

/**
 * Checks what a caller passed to `openSandbox`.
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID`, `POLICY_INVALID`, `PATH_NOT_FOUND`.
 */
export function readSandboxOptions(options: SandboxOptions): SandboxTerms {
  const reader = createReader("SANDBOX_OPTION_INVALID");
  reader.object("options", options);
  reader.refuseUnknown("", options, optionNames);
  const policy = readPolicy(options.policy);
  const workFolder = policy.workspace?.target ?? "/tmp";
  return {
    name: readName(reader, options.name),
    policy,
    file: reader.path("file", options.file),
    args: readArguments(reader, options.args),
    env: readEnvironment(reader, options.env),
    cwd: options.cwd === undefined ? workFolder : reader.path("cwd", options.cwd),
    handshake: reader.choice("handshake", options.handshake ?? "shell", ["shell", "command"]),
    asPid1: reader.flag("asPid1", options.asPid1 ?? false),
    record: reader.callback("record", options.record),
    startTimeoutMs: reader.integer("startTimeoutMs", options.startTimeoutMs ?? 10_000, { least: 1, most: longest }),
    graceMs: reader.integer("graceMs", options.graceMs ?? 2_000, { least: 0, most: longest }),
    signal: options.signal,
  };
}

const optionNames = [
  "name",
  "policy",
  "file",
  "args",
  "env",
  "cwd",
  "handshake",
  "asPid1",
  "record",
  "startTimeoutMs",
  "graceMs",
  "signal",
];

function readName(reader: ValueReader, name: unknown): string {
  if (typeof name === "string" && /^[A-Za-z0-9-]{1,64}$/.test(name)) return name;
  return reader.fail("name", "1 to 64 letters, digits and dashes", name);
}

/** Values are not named in the message: they may be secret. */
export function readArguments(reader: ValueReader, args: readonly string[]): readonly string[] {
  if (!Array.isArray(args) || args.length > maxArguments)
    return reader.fail("args", `an array of at most ${maxArguments} strings`, Array.isArray(args) ? args.length : args);
  args.forEach((text: unknown, index) => void readSecretText(reader, `args[${index}]`, text));
  return args;
}

function readEnvironment(
  reader: ValueReader,
  env: Readonly<Record<string, string>>,
): readonly (readonly [string, string])[] {
  const variables = Object.entries(reader.object("env", env)).filter(([, value]) => value !== undefined);
  if (variables.length > maxVariables) reader.fail("env", `at most ${maxVariables} variables`, variables.length);
  return variables.map(([name, value]) => {
    // A shell, which is the first process inside, drops variables of other names.
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      reader.fail("env", "variables named by letters, digits and underscores, no digit first", name);
    return [name, readSecretText(reader, `env.${name}`, value)] as const;
  });
}

function readSecretText(reader: ValueReader, field: string, value: unknown): string {
  if (typeof value === "string" && value.length <= maxArgumentLength && !value.includes("\0")) return value;
  const seen = typeof value === "string" ? `a string of ${value.length} characters` : typeof value;
  return reader.fail(field, `a string of at most ${maxArgumentLength} characters without NUL`, seen);
}
