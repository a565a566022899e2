/** Process plugins in a folder of their own, and hosts over them as real commands. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readChain, verifyLogs } from "@berth/audit-chain";
import { newPlugin, type PluginLanguage } from "@berth/process-plugins/check";
import { afterAll, expect } from "vitest";
import { type Finished, run } from "./plugin-host.js";

export const fixturesFolder: string = fileURLToPath(new URL("../../../fixtures/plugins/", import.meta.url));

/** An entry of a log. */
export type LogEntry = Readonly<Record<string, unknown>> & { readonly type: string };

/** Plugins, configurations and states. */
export interface ProcessWorld {
  readonly folder: string;
  /** A folder of state of its own; `options` of commands that use it. */
  state(name: string): { readonly path: string; readonly options: readonly string[] };
  /** Writes a `plugins.yaml` of entries, each the members after its `name` and kind. Its path. */
  config(name: string, entries: Readonly<Record<string, string>>): string;
  /** A new plugin in Python whose own code is this one. Its folder. */
  python(name: string, code: string): Promise<string>;
  create(language: PluginLanguage, name: string): Promise<string>;
  /** A plugin whose executable is this text. Its folder. */
  executable(name: string, text: string): string;
  /** A copy of a fixture plugin, prepared as `check` does it. Its folder. */
  fixture(name: string): string;
  /** What its check.json says that it needs outside of /usr. */
  interpreters(folder: string): readonly string[];
}

/** Made for all tests of a file, and removed after them. */
export function makeProcessWorld(): ProcessWorld {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "bph-process-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const create: ProcessWorld["create"] = async (language, name) =>
    (await newPlugin({ language, name, folder: join(folder, name) })).folder;
  return {
    folder,
    state: (name) => ({ path: join(folder, name), options: ["--state", join(folder, name), "--cwd", folder] }),
    config: (name, entries) => {
      const path = join(folder, name);
      const lines = Object.entries(entries).map(([plugin, rest]) => `  - { name: ${plugin}, kind: process, ${rest} }`);
      writeFileSync(path, `plugins:\n${lines.join("\n")}\n`);
      return path;
    },
    python: async (name, code) => {
      const made = await create("python", name);
      writeFileSync(join(made, "plugin.py"), code.replaceAll("NAME", JSON.stringify(name)));
      return made;
    },
    create,
    executable: (name, text) => {
      const made = join(folder, name);
      mkdirSync(join(made, "bin"), { recursive: true });
      const manifest = { name, version: "1.0.0", protocol: 1, process: { command: "./bin/plugin" } };
      writeFileSync(join(made, "plugin.json"), JSON.stringify(manifest));
      writeFileSync(join(made, "bin", "plugin"), text);
      for (const path of ["", "bin", "bin/plugin"]) chmodSync(join(made, path), 0o755);
      return made;
    },
    fixture: (name) => prepared(name, join(folder, name)),
    interpreters: interpretersOf,
  };
}

interface CheckFile {
  readonly prepare?: readonly string[];
  readonly interpreters?: readonly string[];
}

function checkFileOf(plugin: string): CheckFile {
  return JSON.parse(readFileSync(join(plugin, "check.json"), "utf8"));
}

/** Those of system packages are seen anyway. */
function interpretersOf(plugin: string): readonly string[] {
  const { interpreters = [] } = checkFileOf(plugin);
  const paths = interpreters.map((from) => readFileSync(join(plugin, from.replace(/^file:/u, "")), "utf8").trim());
  return paths.filter((path) => !path.startsWith("/usr/bin/"));
}

function prepared(name: string, made: string): string {
  const source = join(fixturesFolder, name);
  cpSync(source, made, { recursive: true });
  spawnSync("chmod", ["-R", "go-w", made]); // git does not hold these bits
  const [file, ...args] = checkFileOf(made).prepare ?? [];
  if (file === undefined) return made;
  const env = { ...process.env, PLUGIN_SOURCE: source };
  const { status, stderr } = spawnSync(file, args, { cwd: made, env, encoding: "utf8", timeout: 300_000 });
  expect(`${status} ${stderr}`).toMatch(/^0 /);
  return made;
}

/** Runs a hook of tool_pre_invoke from the command line. */
export function invoke(
  options: readonly string[],
  config: string,
  payload: object,
  ...more: string[]
): Promise<Finished> {
  const args = ["invoke", "tool_pre_invoke", "--config", config, "--payload", "-", "--json", ...more];
  return run([...args, ...options], JSON.stringify(payload));
}

/** Entries of all logs of a state, of types that begin so; each log was verified. */
export async function logged(state: string, prefix: string): Promise<readonly LogEntry[]> {
  const audit = join(state, "audit");
  expect((await verifyLogs(audit, {})).ok).toBe(true);
  const found: LogEntry[] = [];
  for (const log of readdirSync(audit).sort()) {
    for await (const entry of readChain(join(audit, log))) {
      if (typeof entry.type === "string" && entry.type.startsWith(prefix)) found.push({ ...entry, type: entry.type });
    }
  }
  return found;
}

/** Command lines of living processes that name a folder. */
export function livingIn(folder: string): readonly string[] {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/u.test(name));
  return numbers.map(commandOf).filter((command) => command.includes(folder));
}

function commandOf(number: string): string {
  try {
    return readFileSync(`/proc/${number}/cmdline`, "utf8");
  } catch {
    return ""; // it ended meanwhile
  }
}
