import type { CommandOptions, GuestProcessOptions } from "../environment.js";
import { type FieldFault, LeaseError } from "../errors.js";

const maxArguments = 256;
/** The kernel's own bound of one string (MAX_ARG_STRLEN). */
const maxStringBytes = 131_071;
const defaultMaxBytes = 2 * 1024 * 1024;
const maxVariables = 256;
const maxStdinBytes = 16 * 1024 * 1024;

/** What is needed to start a program, checked. */
export interface CommandTerms {
  readonly argv: readonly string[];
  /** Over those that the agent has itself: the environment's own and the profile's. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** @throws {LeaseError} `PAYLOAD_INVALID`, naming every member at fault. */
export function readCommand(
  argv: readonly string[],
  options: Pick<GuestProcessOptions, "cwd" | "env">,
  workspace: string,
): CommandTerms {
  const env = options.env ?? {};
  const cwd = options.cwd ?? workspace;
  const faults = [...argvFaults(argv), ...envFaults(env), ...cwdFaults(cwd)];
  if (faults.length > 0) throw new LeaseError("PAYLOAD_INVALID", "the command cannot be read", { faults });
  return { argv, env, cwd };
}

/** How long a command may take: what was asked for, and never more than the policy says. */
export function readTimeout({ timeoutMs }: CommandOptions, policyMs: number): number {
  if (timeoutMs === undefined) return policyMs;
  if (!Number.isFinite(timeoutMs) || timeoutMs < 1) {
    const fault = `must be at least 1, was ${timeoutMs}`;
    throw new LeaseError("PAYLOAD_INVALID", "the command cannot be read", { faults: [{ field: "timeoutMs", fault }] });
  }
  return Math.min(timeoutMs, policyMs);
}

/** @throws {LeaseError} `INPUT_TOO_LARGE`. */
export function readStdin({ stdin = new Uint8Array() }: CommandOptions): Uint8Array {
  if (stdin.length <= maxStdinBytes) return stdin;
  throw new LeaseError("INPUT_TOO_LARGE", `stdin has ${stdin.length} bytes, at most ${maxStdinBytes} are taken`);
}

/** What no system can start, or what has more bytes together than `maxBytes`. Arguments after the program may be empty. */
export function argvFaults(argv: unknown, maxBytes: number = defaultMaxBytes): readonly FieldFault[] {
  if (!isList(argv) || argv.length < 1 || argv.length > maxArguments) {
    return [{ field: "argv", fault: `must be a list of 1 to ${maxArguments} strings` }];
  }
  const faults = argv.flatMap((argument, at) => stringFaults(`argv[${at}]`, argument));
  if (faults.length > 0) return faults;
  if (argv[0] === "") return [{ field: "argv[0]", fault: "must name a program" }];
  const bytes = argv.reduce<number>((sum, argument) => sum + Buffer.byteLength(String(argument)), 0);
  return bytes <= maxBytes ? [] : [{ field: "argv", fault: `has ${bytes} bytes, at most ${maxBytes} are taken` }];
}

/** Not `any[]`, which `Array.isArray` makes of it. */
function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function envFaults(env: Readonly<Record<string, string>>): readonly FieldFault[] {
  const entries = Object.entries(env);
  if (entries.length > maxVariables) return [{ field: "env", fault: `must have at most ${maxVariables} variables` }];
  return entries.flatMap(([name, value]) =>
    /^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(name)
      ? stringFaults(`env.${name}`, value)
      : [{ field: "env", fault: "must have names of letters, digits and underscores" }],
  );
}

function cwdFaults(cwd: string): readonly FieldFault[] {
  const faults = stringFaults("cwd", cwd);
  if (faults.length > 0 || cwd.startsWith("/")) return faults;
  return [{ field: "cwd", fault: "must be an absolute path" }];
}

function stringFaults(field: string, value: unknown): readonly FieldFault[] {
  if (typeof value !== "string") return [{ field, fault: `must be a string, was ${typeof value}` }];
  if (value.includes("\0")) return [{ field, fault: "must not hold a NUL" }];
  const bytes = Buffer.byteLength(value);
  return bytes <= maxStringBytes ? [] : [{ field, fault: `has ${bytes} bytes, at most ${maxStringBytes} are taken` }];
}
