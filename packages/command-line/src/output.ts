import { visibleText } from "./visible-text.js";

/** Longest line for a person, in characters: a name without end must not push the rest off the screen. */
const maxLine = 10_000;
/** What JSON lets stand and a terminal acts on or hides: C1 controls, bidi marks, zero-width and tag characters, lone surrogates. */
const unsafeInJson = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;

/**
 * A result for a person, on stdout: one line of at most 10,000 characters. Whatever peers, packages and files say in it cannot
 * act on the terminal or hide: such characters are written as `\u{…}`.
 */
export function printLine(line: string): void {
  process.stdout.write(`${visibleLine(line)}\n`);
}

/** A result for programs, on stdout: one JSON document, in lines. */
export function printJson(value: unknown): void {
  printJsonText(`${JSON.stringify(value, undefined, 2)}\n`);
}

/** One of many results for programs, on a line of its own. */
export function printJsonLine(value: unknown): void {
  printJsonText(`${JSON.stringify(value)}\n`);
}

/** The text of a JSON document, on stdout as it is: the same document for a program, and harmless on a terminal. */
export function printJsonText(text: string): void {
  process.stdout.write(text.replace(unsafeInJson, escapedInJson));
}

/** Something for the person at the terminal, on stderr, as `printLine` writes it. */
export function say(line: string): void {
  process.stderr.write(`${visibleLine(line)}\n`);
}

/** One line, whatever is in it. */
function visibleLine(line: string): string {
  const shown = visibleText(line.slice(0, maxLine));
  return line.length > maxLine ? `${shown}… (${line.length} characters)` : shown;
}

function escapedInJson(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
