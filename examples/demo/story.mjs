// How the demo talks: headings, aligned rows, and checks that are counted.
import { styleText } from "node:util";

const colour = process.stdout.isTTY && process.env.NO_COLOR === undefined;
const paint = (style, text) => (colour ? styleText(style, text) : text);
const checks = { held: 0, failed: 0 };

export const heading = (text) => console.log(`\n${paint("bold", text)}`);
export const say = (text) => console.log(paint("dim", text.startsWith(" ") ? text : `  ${text}`));

/** Rows of a name and what is said of it, aligned. */
export function show(rows) {
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, text] of rows) console.log(`    ${paint("cyan", name.padEnd(width))}  ${text}`);
}

/** What a command printed, indented. */
export function fold(text) {
  for (const line of text.trimEnd().split("\n")) console.log(`    ${line}`);
}

/** Counts a fact that must hold; says what was seen instead when it does not. */
export function check(what, held, seen) {
  checks[held ? "held" : "failed"] += 1;
  console.log(`  ${held ? paint("green", "✓") : paint("red", "✗")} ${what}`);
  if (!held) fold(String(seen));
}

/** Prints the count and gives the exit code. */
export function summary() {
  console.log(`\n${checks.held} checks held, ${checks.failed} failed`);
  return checks.failed === 0 && checks.held > 0 ? 0 : 1;
}
