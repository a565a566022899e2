/** One line after continuations were joined and comments taken away. */
export interface LogicalLine {
  readonly text: string;
  /** Of its first line, from 1. */
  readonly number: number;
}

/**
 * As pip reads a requirements file: a backslash at the end joins lines, but not out of a comment; ` #` begins a comment;
 * `${NAME}` is a variable of the installer's environment, and stays as it is when that has none.
 */
export function logicalLines(text: string, env: Readonly<Record<string, string>>): readonly LogicalLine[] {
  return joined(text.split(/\r\n|\r|\n/))
    .map(({ text: line, number }) => ({ text: expanded(plainText(line), env).trim(), number }))
    .filter((line) => line.text !== "");
}

/** Without its comment, each white space one blank: later expressions then take a time that grows with the length only. */
function plainText(line: string): string {
  let end = line.indexOf("#");
  while (end > 0 && !/\s/.test(line.charAt(end - 1))) end = line.indexOf("#", end + 1);
  return (end === -1 ? line : line.slice(0, end)).replace(/\s+/g, " ");
}

function joined(lines: readonly string[]): readonly LogicalLine[] {
  const result: LogicalLine[] = [];
  let parts: string[] = [];
  let first = 1;
  lines.forEach((line, index) => {
    const isComment = /^\s*#/.test(line);
    // pip: a comment inside a continuation ends it, with a space before so that the comment is one.
    if (parts.length === 0) first = index + 1;
    if (line.endsWith("\\") && !isComment) {
      parts.push(line.slice(0, -1));
      return;
    }
    parts.push(isComment ? ` ${line}` : line);
    result.push({ text: parts.join(""), number: first });
    parts = [];
  });
  if (parts.length > 0) result.push({ text: parts.join(""), number: first });
  return result;
}

function expanded(line: string, env: Readonly<Record<string, string>>): string {
  return line.replace(/\$\{([A-Z0-9_]+)\}/g, (whole, name: string) =>
    Object.hasOwn(env, name) ? (env[name] ?? whole) : whole,
  );
}
