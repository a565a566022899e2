// What a command is described with: one copy of commander for a program, and one to load.
export { type Command, Option } from "commander";
export { type Closers, createClosers } from "./closers.js";
export {
  CommandError,
  type CommandErrorOptions,
  type ExitCode,
  exitCodes,
  isCommandError,
} from "./errors.js";
export { type ExitOptions, type ExitSignals, listenForExit } from "./exit-signals.js";
export { createLogger, type Logger } from "./logger.js";
export { printJson, printJsonLine, printJsonText, printLine, say } from "./output.js";
export { examplesText, type Finish, type ProgramOptions, runProgram } from "./run-program.js";
export { untilAborted } from "./until-aborted.js";
