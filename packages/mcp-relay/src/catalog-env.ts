import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { SpawnBlock } from "./catalog.js";

/** Where references are looked up. */
export interface EnvironmentSource {
  /** The gateway's own variables, for `env:NAME` and `inheritEnv`. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The catalog's folder, for relative `file:PATH`. */
  readonly directory: string;
}

/** One variable that could not be resolved. Messages hold names and paths, never values. */
export interface EnvironmentProblem {
  readonly name: string;
  readonly message: string;
}

/** The variables that a server is given beside the safe default list, or what is missing. */
export type ResolvedEnvironment =
  | { readonly ok: true; readonly variables: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly problems: readonly EnvironmentProblem[] };

/** Largest file behind `file:PATH`, in bytes. */
const maxFileBytes = 64 * 1024;

/**
 * Resolves `env` and `inheritEnv` of an entry. A reference to something that is absent, empty or unreadable is a problem:
 * a server that starts without its secret fails later and less clearly. `file:` drops one line end at the end of the file.
 */
export async function resolveEnvironment(
  spawn: Pick<SpawnBlock, "env" | "inheritEnv">,
  source: EnvironmentSource,
): Promise<ResolvedEnvironment> {
  const variables: Record<string, string> = Object.create(null);
  const problems: EnvironmentProblem[] = [];
  for (const name of spawn.inheritEnv ?? []) {
    const value = source.variables[name];
    if (value === undefined)
      problems.push({ name, message: `inheritEnv names ${name}, which is not set for the gateway` });
    else variables[name] = value;
  }
  for (const [name, text] of Object.entries(spawn.env ?? {})) {
    const found = await resolveValue(text, source);
    if ("value" in found) variables[name] = found.value;
    else problems.push({ name, message: `env.${name} ${found.problem}` });
  }
  return problems.length === 0 ? { ok: true, variables } : { ok: false, problems };
}

type Found = { readonly value: string } | { readonly problem: string };

async function resolveValue(text: string, source: EnvironmentSource): Promise<Found> {
  if (text.startsWith("literal:")) return { value: text.slice("literal:".length) };
  if (text.startsWith("env:")) return variable(text.slice("env:".length), source);
  if (text.startsWith("file:")) return fileText(resolve(source.directory, text.slice("file:".length)));
  return { value: text };
}

function variable(name: string, source: EnvironmentSource): Found {
  const value = source.variables[name];
  if (value === undefined) return { problem: `refers to env:${name}, which is not set for the gateway` };
  return value === "" ? { problem: `refers to env:${name}, which is set but empty` } : { value };
}

async function fileText(path: string): Promise<Found> {
  const bytes = await tryReadSmallFile(path);
  if (typeof bytes === "string") return { problem: `refers to file:${path}, which ${bytes}` };
  const text = tryDecode(bytes)?.replace(/\r?\n$/u, "");
  if (text === undefined || text.includes("\0")) return { problem: `refers to file:${path}, which is not text` };
  return text === "" ? { problem: `refers to file:${path}, which is empty` } : { value: text };
}

/** The bytes, or what is wrong with the file. Pipes and devices are not read: they may never end. */
async function tryReadSmallFile(path: string): Promise<Uint8Array | string> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return "is not a file";
    if (found.size > maxFileBytes) return `is over ${maxFileBytes} bytes`;
    return await readFile(path);
  } catch (error) {
    return `cannot be read (${error instanceof Error && "code" in error ? String(error.code) : "unknown reason"})`;
  }
}

function tryDecode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined; // not UTF-8; the caller says so
  }
}
