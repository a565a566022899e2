import { isAbsolute } from "node:path";
import { readPluginText } from "./read-plugin-text.js";

const maxPathBytes = 8_192;

/** What an interpreter of `check.json` stands for: a path, or why there is none. */
export type InterpreterReading = { readonly path: string } | { readonly problem: string };

/** `/a/path` itself, `env:NAME` of this process, or `file:PATH`: the one line of a file of the copy. */
export async function readInterpreter(written: string, copy: string): Promise<InterpreterReading> {
  if (written.startsWith("env:")) return fromEnvironment(written.slice("env:".length));
  if (written.startsWith("file:")) return fromFile(written.slice("file:".length), copy);
  return absolute(written, "the interpreter");
}

function fromEnvironment(name: string): InterpreterReading {
  const value = process.env[name];
  return value ? absolute(value, `the variable ${name}`) : { problem: `the variable ${name} is not set` };
}

async function fromFile(path: string, copy: string): Promise<InterpreterReading> {
  const isInside = !isAbsolute(path) && !path.split("/").includes("..");
  if (!isInside) return { problem: `file:${path} does not stay in the plugin's folder` };
  const read = await readPluginText(copy, path, maxPathBytes);
  if (read.kind === "absent") return { problem: `there is no ${path}` };
  if (read.kind === "unreadable") return { problem: read.why };
  return absolute(read.text.replace(/\r?\n$/, ""), path);
}

function absolute(path: string, whose: string): InterpreterReading {
  if (isAbsolute(path) && !/[\0\n]/.test(path)) return { path };
  return { problem: `${whose} is no absolute path: ${JSON.stringify(path).slice(0, 200)}` };
}
