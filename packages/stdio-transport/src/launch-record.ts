/**
 * What a Perl supervisor needs to run the command: its length in decimal and a line feed, then, joined by NUL, the file, the
 * number of argv entries, argv, and `NAME=value` for each variable. It travels over the control channel, so that
 * neither arguments nor values show in `ps`. It starts nothing by itself: the word `go` does.
 */
export function encodeLaunchRecord(
  file: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Uint8Array {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const record = Buffer.from([file, String(argv.length), ...argv, ...variables].join("\0"));
  return Buffer.concat([Buffer.from(`${record.length}\n`), record]);
}
