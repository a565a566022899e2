/** A result, on stdout. */
export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A result for programs, on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

/** Something for the person at the terminal, on stderr. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
