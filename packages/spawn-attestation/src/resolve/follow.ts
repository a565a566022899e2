import { AttestationError } from "../errors.js";
import { printable, shown } from "../measure/byte-path.js";
import { readEnvCommand } from "./env-command.js";
import { type InterpreterTable, tablesFor } from "./interpreters.js";
import { refuseLauncher } from "./launchers.js";
import { type FoundProgram, findProgram } from "./lookup.js";
import { isManagerShim, type ProgramForm, readProgram, wrappedScript } from "./program-file.js";

/** A word of a command line and where it came from. */
export interface Word {
  readonly text: string;
  /** Its place in `args`, or `command`; absent for words that a `#!` line or `env -S` added. */
  readonly from: number | "command" | undefined;
}

/** The end of the chain of `#!` lines and `env`: what really executes, and with which words. */
export interface Followed {
  readonly program: FoundProgram;
  /** The word that names the program. */
  readonly word: Word;
  /** Absent: the program is its own target, or it is an interpreter that nobody knows. */
  readonly table: InterpreterTable | undefined;
  /** `shim`: it stands for a known interpreter and finds the real one when it starts. */
  readonly kind: "program" | "shim";
  /** The interpreter is itself a script: what that calls is not known. */
  readonly isScript: boolean;
  /** What follows the program's name. */
  readonly words: readonly Word[];
  /** The script whose `#!` line led here last. */
  readonly script: { readonly program: FoundProgram; readonly word: Word } | undefined;
  /** Programs that are run on the way: `env`, and what interprets an interpreter. */
  readonly via: readonly FoundProgram[];
  readonly env: Readonly<Record<string, string>>;
  readonly clearsEnvironment: boolean;
}

interface Place {
  readonly words: readonly Word[];
  readonly env: Readonly<Record<string, string>>;
  readonly clearsEnvironment: boolean;
  readonly via: readonly FoundProgram[];
  readonly script: Followed["script"];
  readonly depth: number;
}

/** Linux follows five interpreters at most; `env` between them counts here too. */
const maxDepth = 8;

/**
 * Follows a command line to the program that really executes.
 * @throws {AttestationError} every code of the group "does not lead to one program on disk", targets apart.
 */
export function followCommand(words: readonly Word[], env: Readonly<Record<string, string>>, cwd: string): Followed {
  let place: Place = { words, env, clearsEnvironment: false, via: [], script: undefined, depth: 0 };
  for (;;) {
    const next = step(place, cwd);
    if ("program" in next) return next;
    if (next.depth > maxDepth) throw tooDeep(words[0]?.text ?? "");
    place = next;
  }
}

function step(place: Place, cwd: string): Followed | Place {
  const [word, ...rest] = place.words;
  if (word === undefined) throw nothingToRun();
  const program = findProgram(word.text, { env: place.env, cwd }, nounFor(word));
  const names = [baseName(program.path), baseName(program.trace.realPath)];
  const known = tablesFor(names.slice(0, 1)).length > 0 || names[0] === "env";
  // By its own name too (a link to npx-cli.js), unless the first one settles it: every tool of BusyBox is one file.
  const suspects = known ? names.slice(0, 1) : names;
  refuseLauncher(suspects, textsOf(rest));
  const form = readProgram(program);
  if (suspects.includes("env") && form.kind === "native") return throughEnv(place, program, rest);
  const [table, other] = tablesFor(names);
  if (table !== undefined && other !== undefined) throw twoNames(program, table, other);
  const shim = isManagerShim(names[1] ?? "", form);
  const isScript = form.kind === "script";
  const end = { program, word, words: rest, isScript, ...carried(place) };
  if (table !== undefined) return { ...end, table, kind: shim || isScript ? "shim" : "program" };
  if (shim) throw toolShim(program);
  if (form.kind === "native") return { ...end, table: undefined, kind: "program" };
  if (place.script === undefined) return throughShebang(place, program, form, word, rest, cwd);
  return { ...end, table: undefined, kind: "program", via: [...place.via, interpreterOf(place, form, cwd)] };
}

function carried(place: Place): Pick<Followed, "env" | "clearsEnvironment" | "via" | "script"> {
  return { env: place.env, clearsEnvironment: place.clearsEnvironment, via: place.via, script: place.script };
}

function textsOf(words: readonly Word[]): readonly string[] {
  return words.map((word) => word.text);
}

function throughEnv(place: Place, program: FoundProgram, rest: readonly Word[]): Place {
  const read = readEnvCommand(textsOf(rest), place.env);
  return {
    ...place,
    words: read.words.map(({ text, from }) => ({ text, from: from === undefined ? undefined : rest[from]?.from })),
    env: read.env,
    clearsEnvironment: place.clearsEnvironment || read.clearsEnvironment,
    via: [...place.via, program],
    depth: place.depth + 1,
  };
}

function throughShebang(
  place: Place,
  program: FoundProgram,
  form: Extract<ProgramForm, { kind: "script" }>,
  word: Word,
  rest: readonly Word[],
  cwd: string,
): Place {
  const wrapped = wrappedScript(form);
  if (wrapped !== undefined) throw npmWrapper(program, wrapped);
  const self: Word = { text: program.path, from: word.from };
  const { argument } = form.shebang;
  const plain = argument === undefined ? [kernelPath(form)] : [kernelPath(form), argument];
  const added = form.trampoline === undefined ? plain : [form.trampoline];
  const shell = form.trampoline === undefined ? [] : [interpreterOf(place, form, cwd)];
  return {
    ...place,
    via: [...place.via, ...shell],
    words: [...added.map((text) => ({ text, from: undefined })), self, ...rest],
    script: { program, word: self },
    depth: place.depth + 1,
  };
}

/** The kernel does not look on PATH: a bare name after `#!` is a file in the current folder. */
function kernelPath(form: Extract<ProgramForm, { kind: "script" }>): string {
  const { interpreter } = form.shebang;
  return interpreter.includes("/") ? interpreter : `./${interpreter}`;
}

function interpreterOf(place: Place, form: Extract<ProgramForm, { kind: "script" }>, cwd: string): FoundProgram {
  const text = kernelPath(form);
  return findProgram(text, { env: place.env, cwd }, nounFor({ text, from: undefined }));
}

function nounFor(word: Word): { missing: "COMMAND_NOT_FOUND" | "INTERPRETER_NOT_FOUND"; what: string } {
  const named = JSON.stringify(printable(word.text));
  return word.from === "command"
    ? { missing: "COMMAND_NOT_FOUND", what: `command ${named}` }
    : { missing: "INTERPRETER_NOT_FOUND", what: `the interpreter ${named}` };
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function nothingToRun(): AttestationError {
  return new AttestationError("TARGET_MISSING", "env is given no program to run", {
    advice: "write the program in command and its variables in env",
  });
}

function twoNames(program: FoundProgram, one: InterpreterTable, two: InterpreterTable): AttestationError {
  const real = shown(program.trace.realPath);
  const message = `${printable(program.path)} leads to ${real}: it may read its arguments as ${one.family} or as ${two.family}`;
  return new AttestationError("TARGET_AMBIGUOUS", message, { advice: `write ${real} in command` });
}

function tooDeep(command: string): AttestationError {
  return new AttestationError(
    "SHEBANG_TOO_DEEP",
    `${printable(command)} leads through more than ${maxDepth} programs`,
    {
      advice: "write the interpreter in command and the script in args",
    },
  );
}

function toolShim(program: FoundProgram): AttestationError {
  const name = baseName(program.path);
  const message = `${printable(program.path)} is a version manager's shim: it chooses the program when it starts`;
  return new AttestationError("COMMAND_IS_SHIM", message, {
    advice: `write the real program in command; the manager tells it (pyenv which ${name}, mise which ${name}, volta which ${name})`,
  });
}

function npmWrapper(program: FoundProgram, wrapped: string): AttestationError {
  const script = `${program.path.slice(0, program.path.lastIndexOf("/"))}/${wrapped}`;
  return new AttestationError("COMMAND_IS_SHIM", `${printable(program.path)} is a shell wrapper around a script`, {
    advice: `run the script itself: "command": "node", "args": [${JSON.stringify(printable(script))}]`,
  });
}
