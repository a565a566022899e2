import type { InterpreterTable, ValueRole } from "./interpreters.js";

/** Where an interpreter's arguments lead. */
export type Finding =
  | { readonly kind: "target"; readonly index: number }
  /** No file, or none that can be told: the option or word that says so, and its value. */
  | {
      readonly kind: Exclude<ValueRole, "plain" | "preload" | "target"> | "unknown" | "remote";
      readonly word: string;
      readonly value: string;
    }
  | { readonly kind: "missing" };

/** What was read on the way to the finding. */
export interface ArgumentScan {
  readonly finding: Finding;
  /** Values of options that load code before the target. */
  readonly preloads: readonly string[];
  /** Options in the form `-I` or `-X value`; letters that stood together are apart. */
  readonly options: readonly string[];
}

/**
 * Finds the script among an interpreter's arguments by its table. An option that the table does not know could take the
 * next word or not: that is `unknown`, never a guess.
 */
export function scanArguments(table: InterpreterTable, words: readonly string[]): ArgumentScan {
  const preloads: string[] = [];
  const options: string[] = [];
  let commandSeen = table.commands === undefined;
  const done = (finding: Finding): ArgumentScan => ({ finding, preloads, options });
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word === "-") return done({ kind: "missing" });
    if (word === "--")
      return done(index + 1 < words.length ? { kind: "target", index: index + 1 } : { kind: "missing" });
    if (!word.startsWith("-")) {
      const role = commandSeen ? undefined : own(table.commands ?? {}, word);
      commandSeen = true;
      if (role === "run") continue;
      return done(readWord(table, word, index, role));
    }
    const option = readOption(table, word, words[index + 1]);
    if (option === undefined) return done({ kind: "unknown", word, value: "" });
    options.push(...option.options);
    const { role, name, value, takesNext } = option;
    if (takesNext) index += 1;
    if (role === "preload") preloads.push(value);
    else if (role === "target") {
      const isThere = takesNext && index < words.length;
      return done(isThere ? { kind: "target", index } : { kind: "unknown", word, value });
    } else if (role !== "plain") return done({ kind: role, word: name, value });
  }
  return done({ kind: "missing" });
}

function readWord(
  table: InterpreterTable,
  word: string,
  index: number,
  role: Exclude<ValueRole, "plain" | "preload"> | "plain" | "preload" | undefined,
): Finding {
  if (role !== undefined && role !== "plain" && role !== "preload" && role !== "target") {
    return { kind: role, word, value: "" };
  }
  if (table.family === "shell" && word.startsWith("+")) return { kind: "unknown", word, value: "" };
  const scheme = table.family === "deno" || table.family === "bun" ? /^[A-Za-z][A-Za-z0-9+.-]+:/ : undefined;
  if (scheme?.test(word)) return { kind: "remote", word, value: word };
  if (table.filePattern !== undefined && !table.filePattern.test(word)) {
    return { kind: table.family === "java" ? "module" : "named", word, value: word };
  }
  return { kind: "target", index };
}

interface OptionRead {
  readonly role: ValueRole;
  readonly name: string;
  readonly value: string;
  /** The value is the next word. */
  readonly takesNext: boolean;
  readonly options: readonly string[];
}

function readOption(table: InterpreterTable, word: string, next: string | undefined): OptionRead | undefined {
  const equals = word.indexOf("=");
  const name = equals < 0 ? word : word.slice(0, equals);
  const role = own(table.values, name);
  if (role !== undefined) {
    const value = equals < 0 ? (next ?? "") : word.slice(equals + 1);
    return { role, name, value, takesNext: equals < 0, options: [`${name} ${value}`] };
  }
  const known = table.flags.has(name) || table.flagPattern?.test(word) === true;
  if (known || (word.startsWith("--") && equals > 0)) return flag(word);
  return word.startsWith("--") ? undefined : readLetters(table, word, next);
}

function flag(word: string): OptionRead {
  return { role: "plain", name: word, value: "", takesNext: false, options: [word] };
}

/** Letters that stand together: `-uB`, `-Wignore`, `-Ic`. */
function readLetters(table: InterpreterTable, word: string, next: string | undefined): OptionRead | undefined {
  const options: string[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const letter = word[at] ?? "";
    const rest = word.slice(at + 1);
    const name = `-${letter}`;
    const glued = own(table.gluedLetters ?? {}, letter);
    const role = glued ?? own(table.letterValues, letter);
    if (role !== undefined) {
      const takesNext = glued === undefined && rest === "";
      const value = takesNext ? (next ?? "") : rest;
      return { role, name, value, takesNext, options: [...options, `${name} ${value}`] };
    }
    if (!table.letters.includes(letter)) return undefined;
    options.push(name);
  }
  return { role: "plain", name: word, value: "", takesNext: false, options };
}

/** A member of the table itself: `constructor` and the like are words as any other. */
function own<T>(map: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
