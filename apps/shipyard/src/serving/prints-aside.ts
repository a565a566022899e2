/** Loads what may print: until it is loaded, that goes to stderr. Stdout is the protocol's, whose server guards it afterwards. */
export async function printsAside<T>(load: () => Promise<T>): Promise<T> {
  const { stdout, stderr } = process;
  const { write } = stdout;
  stdout.write = stderr.write.bind(stderr);
  try {
    return await load();
  } finally {
    stdout.write = write;
  }
}
