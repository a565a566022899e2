/** Exit codes, the same for every command: done; failed or not verified; wrong usage or configuration; refused by policy. */
export const exitCodes = { good: 0, failed: 1, usage: 2, refused: 3 } as const;

/** One of `exitCodes`. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What a CommandError knows beside its code. */
export interface CommandErrorOptions extends ErrorOptions {
  /** One problem, or one piece of advice, each. */
  readonly lines?: readonly string[] | undefined;
}

/**
 * Ends a command with a message for a person, `lines` under it and an exit code. A program has a class of its own that extends
 * this one, with its own name and codes: `runProgram` then says what happened, without a stack.
 */
export class CommandError<Code extends string = string> extends Error {
  override readonly name: string = "CommandError";
  readonly code: Code;
  readonly exitCode: ExitCode;
  readonly lines: readonly string[];
  constructor(code: Code, exitCode: ExitCode, message: string, options: CommandErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.exitCode = exitCode;
    this.lines = options.lines ?? [];
  }
}

const codes: readonly unknown[] = Object.values(exitCodes);

/** Recognises a CommandError, or an error of a class that extends it, from any installed copy of the package. */
export function isCommandError(value: unknown): value is CommandError {
  if (!(value instanceof Error && "code" in value && "exitCode" in value && "lines" in value)) return false;
  return typeof value.code === "string" && codes.includes(value.exitCode) && Array.isArray(value.lines);
}
