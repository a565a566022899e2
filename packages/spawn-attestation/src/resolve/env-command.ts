import { AttestationError } from "../errors.js";
import { printable } from "../measure/byte-path.js";

/** What `env` was asked to do before it starts the program. */
export interface EnvCommand {
  /** The program and its arguments; how many words of the input came before it is `skipped` (`-S` adds words of its own). */
  readonly words: readonly EnvWord[];
  readonly env: Readonly<Record<string, string>>;
  /** The child's environment is not the one we list: it was cleared or its names were changed. */
  readonly clearsEnvironment: boolean;
}

/** A word with the place it had in the input; words out of `-S` have none. */
export interface EnvWord {
  readonly text: string;
  readonly from: number | undefined;
}

const unset = /^(?:-u|--unset=)(.+)$/;

/**
 * Reads the arguments of coreutils' `env`, with `-S` split as its manual says, in the forms that start lines use.
 * @throws {AttestationError} `SHEBANG_INVALID` for options that change more than the environment.
 */
// A state machine over words (coreutils manual, § env invocation); each branch is one option.
export function readEnvCommand(args: readonly string[], given: Readonly<Record<string, string>>): EnvCommand {
  const env: Record<string, string> = { ...given };
  let clearsEnvironment = false;
  const ahead: EnvWord[] = args.map((text, from) => ({ text, from }));
  for (let word = ahead.shift(); word !== undefined; word = ahead.shift()) {
    const { text } = word;
    const split = /^(?:-S|--split-string=)(.+)$/.exec(text)?.[1];
    if (split !== undefined) {
      ahead.unshift(...splitString(split));
    } else if (text === "-S" || text === "--split-string") {
      ahead.unshift(...splitString(ahead.shift()?.text ?? ""));
    } else if (text === "-i" || text === "-" || text === "--ignore-environment") {
      clearsEnvironment = true;
      for (const name of Object.keys(env)) delete env[name];
    } else if (text === "-u" || text === "--unset" || unset.test(text)) {
      const name = unset.exec(text)?.[1] ?? ahead.shift()?.text ?? "";
      clearsEnvironment ||= ours.has(name);
      delete env[name];
    } else if (text === "--") {
      return { words: assign(ahead, env), env, clearsEnvironment: clearsEnvironment || setsOurs(env, given) };
    } else if (text.startsWith("-")) {
      throw new AttestationError("SHEBANG_INVALID", `env ${printable(text)} is not understood here`, {
        advice: "write the program itself in command, and its variables in env",
      });
    } else {
      const words = assign([word, ...ahead], env);
      return { words, env, clearsEnvironment: clearsEnvironment || setsOurs(env, given) };
    }
  }
  return { words: [], env, clearsEnvironment };
}

/** The variables that keep Python from running cached code; a start line that touches them undoes that. */
const ours: ReadonlySet<string> = new Set(["PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"]);

function setsOurs(env: Readonly<Record<string, string>>, given: Readonly<Record<string, string>>): boolean {
  return [...ours].some((name) => env[name] !== given[name]);
}

/** Takes the leading `NAME=value` words into the environment. */
function assign(words: readonly EnvWord[], env: Record<string, string>): readonly EnvWord[] {
  const first = words.findIndex((word) => !word.text.includes("="));
  const assignments = first < 0 ? words : words.slice(0, first);
  for (const { text } of assignments) env[text.slice(0, text.indexOf("="))] = text.slice(text.indexOf("=") + 1);
  return first < 0 ? [] : words.slice(first);
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
