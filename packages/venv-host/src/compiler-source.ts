import { readFile } from "node:fs/promises";

// Beside `src` as beside `dist`; hence this file lies at the top of `src`.
const file = new URL("../python/compile_modules.py", import.meta.url);

/** The program that compiles the modules of an environment. */
export function readCompilerSource(): Promise<string> {
  return readFile(file, "utf8");
}
