import { dirname } from "node:path";
import { readCompilerSource } from "../../compiler-source.js";
import type { Confine } from "../../confine.js";
import type { Interpreter } from "../interpreter.js";
import { tryJson } from "../try-json.js";
import { type BuildStep, runStep } from "./run-step.js";

/** Whose modules are compiled. */
export interface CompileTask {
  readonly environment: string;
  /** Where it will live: what errors of its modules are to name. */
  readonly target: string;
  /** Relative to the environment. */
  readonly sitePackages: string;
  /** The one that the environment is made with: its caches are for no other. */
  readonly interpreter: Interpreter;
  readonly confinedBy: Confine | undefined;
  readonly maxMs: number;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
  readonly onStep: (step: string) => void;
}

/** What compiling one environment may cost. */
export const compileLimits = {
  maxModules: 100_000,
  /** Of folders in each other. */
  maxDepth: 64,
  /** Processes, also where there are more processors. */
  maxWorkers: 8,
  /** Of each process. */
  maxMemoryBytes: 1_073_741_824,
  /** Of one module, of which the compiler takes a hundred times as much memory. */
  maxSourceBytes: 16_777_216,
  /** Processor time of one module. */
  maxModuleSeconds: 20,
  /** Processes that are started anew. */
  maxDeaths: 5,
} as const;

// Neither `site` nor any .pth file, no variable and no path of the environment: what is compiled cannot run.
const isolated = ["-I", "-S", "-B", "-X", "utf8", "-W", "ignore"];

/**
 * Compiles what was installed, since a worker that may not write into its environment would do it at each start. An
 * environment is good without: what keeps this from being done is told in a step. Rejects with the signal's reason only.
 */
export async function compileModules(task: CompileTask): Promise<void> {
  const { interpreter, signal, onStep } = task;
  let told: string | undefined;
  try {
    const argv = [interpreter.path, ...isolated, "-c", await readCompilerSource(), compilerTask(task)];
    const onLine = (line: string): void => {
      const { modules, compiled } = saidIn(line);
      if (compiled === undefined && modules !== undefined) onStep(`compiling ${modules} modules`);
    };
    const onOutput = (output: string): void => {
      told = outcomeOf(saidIn(output.trimEnd().split("\n").at(-1) ?? ""));
    };
    await runStep({ ...stepOf(task), argv, onLine, onOutput }, task.confinedBy, signal);
  } catch (error) {
    signal.throwIfAborted();
    told = uncompiled(error instanceof Error ? error.message : String(error));
  }
  if (told !== undefined) onStep(told);
}

/** What a line of the program says. */
interface Said {
  readonly modules?: unknown;
  readonly compiled?: unknown;
  readonly stopped?: unknown;
}

function saidIn(line: string): Said {
  const value = tryJson(line);
  return typeof value === "object" && value !== null ? value : {};
}

function outcomeOf({ modules, compiled, stopped }: Said): string | undefined {
  if (typeof modules !== "number" || typeof compiled !== "number") return uncompiled("it did not say what it did");
  if (typeof stopped === "string") return `WARNING: ${compiled} of ${modules} modules were compiled: ${stopped}`;
  if (compiled === modules) return undefined;
  return `${modules - compiled} of ${modules} modules could not be compiled`;
}

const uncompiled = (why: string): string => `WARNING: modules are left to be compiled when they are imported: ${why}`;

function compilerTask({ environment, target, sitePackages, maxMs }: CompileTask): string {
  // Mostly a link to the other one, and then passed over.
  const folders = [sitePackages, sitePackages.replace(/^lib\//, "lib64/")];
  return JSON.stringify({ environment, target, folders, limits: { ...compileLimits, maxSeconds: maxMs / 1_000 } });
}

function stepOf({ environment, interpreter, maxOutputBytes }: CompileTask): Omit<BuildStep, "argv"> {
  return {
    step: "compile",
    env: { PATH: "/usr/bin:/bin", LANG: "C.UTF-8" },
    policy: {
      name: `compile ${environment}`,
      readable: [interpreter.prefix, dirname(interpreter.path)],
      writable: [environment],
      network: "none",
      cwd: environment,
    },
    maxOutputBytes,
    secrets: [],
  };
}
