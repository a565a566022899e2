import { execFileSync } from "node:child_process";
import {
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
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../src/executor/json.js";
import type { PluginCall } from "../../src/executor/plugin-call.js";
import type { PluginEntry } from "../../src/executor/plugin-config.js";
import type { RunningPlugin } from "../../src/executor/plugin-kind.js";
import { isolatedVenv } from "../../src/isolated-venv/isolated-venv.js";
import type { IsolatedVenvOptions, PluginEnvironment } from "../../src/isolated-venv/isolated-venv-options.js";

const stub = fileURLToPath(new URL("../../../../fixtures/cpex-stub/cpex", import.meta.url));

/** A folder of the test's own, without links. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "berth-venv-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A real virtual environment with the stub in it, or without. */
export function makeEnvironment(mode?: string, hasStub = true): PluginEnvironment & { readonly closed: () => number } {
  const path = join(temporaryFolder(), ".venv");
  execFileSync("python3", ["-m", "venv", "--without-pip", path]);
  const [version = ""] = readdirSync(join(path, "lib"));
  const sitePackages = join(path, "lib", version, "site-packages");
  if (hasStub) cpSync(stub, join(sitePackages, "cpex"), { recursive: true });
  if (mode !== undefined) writeFileSync(join(sitePackages, "cpex", "framework", "isolated", "mode"), mode);
  let closed = 0;
  return {
    path,
    python: join(path, "bin", "python"),
    closed: () => closed,
    close: async () => {
      closed += 1;
    },
  };
}

/** A host's folder with `plugins` in it. */
export function makeCwd(): string {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, "plugins"));
  return cwd;
}

/** An entry of the kind for one of the stub's behaviours. */
export function entryOf(behaviour: string, more: Partial<PluginEntry> = {}): PluginEntry {
  return {
    name: "the-plugin",
    kind: "isolated_venv",
    hooks: ["tool_pre_invoke"],
    mode: "sequential",
    priority: 100,
    onError: "fail",
    capabilities: [],
    conditions: [],
    description: undefined,
    author: undefined,
    version: undefined,
    tags: [],
    config: { class_name: `cpex_stub.${behaviour}` },
    more: {},
    ...more,
  };
}

export interface OpenedOptions extends Partial<IsolatedVenvOptions> {
  readonly environment?: PluginEnvironment;
  readonly onLog?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** Opens a plugin of the kind, and closes it when its test has finished. */
export async function openPlugin(
  entry: PluginEntry,
  { environment = makeEnvironment(), onLog = () => undefined, signal, ...options }: OpenedOptions = {},
): Promise<RunningPlugin> {
  const kind = isolatedVenv({ acquire: async () => environment, cwd: options.cwd ?? makeCwd(), ...options });
  const plugin = await kind.open(entry, { signal, onProgress: () => undefined, onLog });
  onTestFinished(() => plugin.close());
  return plugin;
}

/** A call as the executor makes it. */
export function callOf(payload: JsonObject, more: Partial<PluginCall> = {}): PluginCall {
  return {
    id: "8a3c8f2e-63a5-4b0b-9d52-000000000000",
    hook: "tool_pre_invoke",
    payload,
    context: {
      state: { a: 1 },
      globalContext: { requestId: "r-1", user: "ann", state: {}, metadata: {} },
      metadata: {},
    },
    extensions: undefined,
    credential: undefined,
    ...more,
  };
}

/** The task as the stub's Echo saw it. */
export async function taskOf(plugin: RunningPlugin, call: PluginCall): Promise<Readonly<Record<string, unknown>>> {
  const { metadata } = await plugin.call(call, {});
  const task = metadata?.["task"];
  return typeof task === "object" && task !== null && !Array.isArray(task) ? { ...task } : {};
}

/** The configuration as the worker reads it. */
export function configOf(task: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const config: unknown = JSON.parse(String(task["config"]));
  return typeof config === "object" && config !== null ? { ...config } : {};
}

/** How many processes of this machine have the path in their command line. */
export function processesOf(path: string): number {
  return numbersOf(path).length;
}

/** What everybody on this machine may see of those processes, and their variables. */
export function processTexts(path: string): readonly string[] {
  return numbersOf(path).flatMap((number) => [shown(number, "cmdline"), shown(number, "environ")]);
}

/** All plain files below a folder. */
export function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function numbersOf(path: string): readonly string[] {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/u.test(name));
  return numbers.filter((number) => shown(number, "cmdline").includes(path));
}

function shown(number: string, file: "cmdline" | "environ"): string {
  try {
    return readFileSync(`/proc/${number}/${file}`, "utf8");
  } catch {
    return ""; // it ended meanwhile
  }
}
