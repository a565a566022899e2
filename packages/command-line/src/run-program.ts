import { Command, CommanderError } from "commander";
import { exitCodes, isCommandError } from "./errors.js";
import { say } from "./output.js";

/** Called by a command's action with its exit code. */
export type Finish = (code: number) => void;

/** A program of commands. */
export interface ProgramOptions {
  /** As it is typed. */
  readonly name: string;
  /** One sentence for `--help`. */
  readonly description: string;
  /** As published. */
  readonly version: string;
  /** Each adds a command, whose action calls `finish`. */
  readonly commands: readonly ((program: Command, finish: Finish) => void)[];
}

/**
 * Reads the command line (`argv` as in `process.argv`), runs the command, and ends the process with its exit code once stdout
 * was taken. What it throws is said on stderr: of a CommandError the message, its lines and its cause's message, unless that is in it; of an error
 * with a `code` the message and its cause's; of any other, which is a bug, the stack too. Exit code 2 for a wrong command line,
 * a CommandError's own, else 1.
 */
export async function runProgram(options: ProgramOptions, argv: readonly string[]): Promise<void> {
  const code = await run(options, argv);
  // Pending output first: a pipe to the caller may be slow.
  process.stdout.write("", () => process.exit(code));
}

async function run(options: ProgramOptions, argv: readonly string[]): Promise<number> {
  let code: number = exitCodes.good;
  const program = createProgram(options, (result) => {
    code = result;
  });
  try {
    await program.parseAsync([...argv]);
    return code;
  } catch (error) {
    // Commander has said it already; help and version end with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.good : exitCodes.usage;
    report(options.name, error);
    return isCommandError(error) ? error.exitCode : exitCodes.failed;
  }
}

function createProgram({ name, description, version, commands }: ProgramOptions, finish: Finish): Command {
  const program = new Command(name)
    .description(description)
    .version(version)
    .exitOverride()
    .showHelpAfterError("(--help shows how)");
  for (const add of commands) add(program, finish);
  return program;
}

/** Errors with a code say what happened to a person; what has none is a bug, and shows where. */
function report(name: string, error: unknown): void {
  say(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  if (!(error instanceof Error)) return;
  for (const line of isCommandError(error) ? error.lines : []) say(`  ${line}`);
  const { cause } = error;
  if (cause instanceof Error && !error.message.includes(cause.message)) say(`  ${cause.message}`);
  if (!("code" in error)) for (const line of (error.stack ?? "").split("\n").slice(1)) say(line);
}

/** Lines that can be typed, and a note, for commander's `addHelpText("after", …)`. */
export function examplesText(lines: readonly string[], note = ""): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n${note === "" ? "" : `\n${note}\n`}`;
}
