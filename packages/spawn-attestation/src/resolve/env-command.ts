import { AttestationError } from "../errors.js";
import { printable } from "../measure/byte-path.js";

/** What `env` was asked to do before it starts the program. */
export interface EnvCommand {
  /** The program and its arguments. */
  readonly words: readonly EnvWord[];
  readonly env: Readonly<Record<string, string>>;
  /** The variables that we set for the child may not reach it: they were cleared, removed or set again. */
  readonly clearsEnvironment: boolean;
}

/** A word with the place it had in the input; words out of `-S` have none. */
export interface EnvWord {
  readonly text: string;
  readonly from: number | undefined;
}

/** The variables that keep Python from running cached code; a start line that touches them undoes that. */
const ours: ReadonlySet<string> = new Set(["PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"]);

/**
 * Reads the arguments of coreutils' `env`, with `-S` split as its manual says, in the forms that start lines use.
 * @throws {AttestationError} `SHEBANG_INVALID` for options that change more than the environment.
 */
// A state machine over words (coreutils manual, § env invocation); each branch is one option.
export function readEnvCommand(args: readonly string[], given: Readonly<Record<string, string>>): EnvCommand {
  const env: Record<string, string> = { ...given };
  let clearsEnvironment = false;
  const ahead: EnvWord[] = args.map((text, from) => ({ text, from }));
  const remove = (name: string): void => {
    clearsEnvironment ||= ours.has(name);
    delete env[name];
  };
  for (let word = ahead.shift(); word !== undefined; word = ahead.shift()) {
    const { option, value } = readOption(word.text);
    if (option === "-S") {
      ahead.unshift(...splitString(value ?? ahead.shift()?.text ?? ""));
    } else if (option === "-u") {
      remove(value ?? ahead.shift()?.text ?? "");
    } else if (option === "-i") {
      clearsEnvironment = true;
      for (const name of Object.keys(env)) remove(name);
    } else if (option === undefined) {
      const assigned = assign(word.text === "--" ? ahead : [word, ...ahead], env);
      return { words: assigned.words, env, clearsEnvironment: clearsEnvironment || assigned.setsOurs };
    } else throw unknownOption(word.text);
  }
  return { words: [], env, clearsEnvironment };
}

interface EnvOption {
  /** Undefined: the options end here. */
  readonly option: "-S" | "-u" | "-i" | "unknown" | undefined;
  readonly value?: string | undefined;
}

function readOption(text: string): EnvOption {
  if (text === "--" || !text.startsWith("-")) return { option: undefined };
  if (text === "-" || text === "-i" || text === "--ignore-environment") return { option: "-i" };
  const split = /^(?:-S|--split-string)=?(.+)?$/.exec(text);
  if (split !== null) return { option: "-S", value: text.startsWith("-S") ? text.slice(2) || undefined : split[1] };
  const unset = /^(?:-u(.+)?|--unset(?:=(.+))?)$/.exec(text);
  if (unset !== null) return { option: "-u", value: unset[1] ?? unset[2] };
  return { option: "unknown" };
}

function unknownOption(text: string): AttestationError {
  return new AttestationError("SHEBANG_INVALID", `env ${printable(text)} is not understood here`, {
    advice: "write the program itself in command, and its variables in env",
  });
}

/** Takes the leading `NAME=value` words into the environment. */
function assign(
  words: readonly EnvWord[],
  env: Record<string, string>,
): { readonly words: readonly EnvWord[]; readonly setsOurs: boolean } {
  const first = words.findIndex((word) => !word.text.includes("="));
  const assignments = first < 0 ? words : words.slice(0, first);
  const pairs = assignments.map(
    ({ text }) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)] as const,
  );
  for (const [name, value] of pairs) env[name] = value;
  return { words: first < 0 ? [] : words.slice(first), setsOurs: pairs.some(([name]) => ours.has(name)) };
}

/**
 * Splits at blanks outside quotes. Variables and escapes are refused: what they mean is decided only when `env` runs.
 */
function splitString(text: string): EnvWord[] {
  if (/[$\\#]/.test(text)) throw unsplittable(text);
  const words: EnvWord[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const char of text) {
    if (char === quote) quote = undefined;
    else if (quote !== undefined) word = `${word ?? ""}${char}`;
    else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (!/\s/.test(char)) word = `${word ?? ""}${char}`;
    else if (word !== undefined) {
      words.push({ text: word, from: undefined });
      word = undefined;
    }
  }
  if (quote !== undefined) throw unsplittable(text);
  return word === undefined ? words : [...words, { text: word, from: undefined }];
}

function unsplittable(text: string): AttestationError {
  return new AttestationError("SHEBANG_INVALID", `env -S ${printable(text)} holds $, \\, # or an open quote`, {
    advice: "write the interpreter in command and the script in args",
  });
}
