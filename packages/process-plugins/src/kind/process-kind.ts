import type { JsonObject } from "@berth/jsonrpc-framing";
import { ProcessPluginError } from "../errors.js";
import type { PluginInstance } from "../instance/instance.js";
import type { PluginStanding, PluginSupervisor } from "../supervisor/supervisor.js";
import { type ProcessKindEntry, readProcessEntry } from "./process-entry.js";

/** What `createProcessKind` needs. The two functions are those of the executor that the kind is handed to. */
export interface ProcessKindOptions<Call extends { readonly hook: string }, Reply> {
  /** Holds each plugin under the name of its entry. */
  readonly supervisor: PluginSupervisor;
  /** A call in wire form. */
  readonly writeCall: (call: Call) => JsonObject;
  /** Reads an answer; throws when it is none. */
  readonly readReply: (answer: unknown, hook: string) => Reply;
}

/** A plugin whose hooks an executor runs: structurally a `RunningPlugin` of @berth/venv-host/executor. */
export interface RunningProcessPlugin<Call, Reply> extends AsyncDisposable {
  readonly evidence: Readonly<Record<string, string>> | undefined;
  call(call: Call, wait: { readonly signal?: AbortSignal | undefined }): Promise<Reply>;
  health(wait: {
    readonly signal?: AbortSignal | undefined;
  }): Promise<{ readonly state: "ready" | "idle" | "failed"; readonly message: string }>;
  close(): Promise<void>;
}

/** The kind `process`: structurally a `PluginKind` of @berth/venv-host/executor. */
export interface ProcessKind<Call, Reply> {
  readonly name: "process";
  /** Faults of an entry, one sentence each, with the key. */
  check(entry: ProcessKindEntry): readonly string[];
  /** Starts the plugin, and refuses hooks that it does not take. @throws {ProcessPluginError} as `PluginSupervisor.instance`; `PLUGIN_REJECTED`. */
  open(
    entry: ProcessKindEntry,
    options: { readonly signal?: AbortSignal | undefined; readonly onProgress: (step: string) => void },
  ): Promise<RunningProcessPlugin<Call, Reply>>;
}

/** Runs the hooks of supervised plugins. What a plugin logs goes to the supervisor's `onLog`. */
export function createProcessKind<Call extends { readonly hook: string }, Reply>(
  options: ProcessKindOptions<Call, Reply>,
): ProcessKind<Call, Reply> {
  const { supervisor } = options;
  return {
    name: "process",
    check: (entry) => checkEntry(entry, supervisor.list()),
    open: async (entry, { signal, onProgress }) => {
      onProgress(`measuring and starting ${entry.name}`);
      refuseHooks(entry, await supervisor.instance(entry.name, { signal }));
      return runningPlugin(entry.name, options);
    },
  };
}

function checkEntry(entry: ProcessKindEntry, standings: readonly PluginStanding[]): readonly string[] {
  // Where its folders lie is of no matter for its faults.
  const reading = readProcessEntry(entry, { base: "/", data: "/" });
  if (!reading.ok) return reading.problems;
  if (standings.some(({ name }) => name === entry.name)) return [];
  return [`name: no plugin ${entry.name} is supervised here`];
}

function refuseHooks({ name, hooks }: ProcessKindEntry, { capabilities }: PluginInstance): void {
  const missing = hooks.filter((hook) => !capabilities.hooks.includes(hook));
  if (missing.length === 0) return;
  const problems = missing.map((hook) => `hooks: the plugin does not take ${hook}`);
  throw new ProcessPluginError("PLUGIN_REJECTED", `plugin ${name} does not take ${missing.join(", ")}`, {
    plugin: name,
    problems,
    advice: `it takes ${capabilities.hooks.join(", ") || "no hooks"}`,
  });
}

function runningPlugin<Call extends { readonly hook: string }, Reply>(
  name: string,
  { supervisor, writeCall, readReply }: ProcessKindOptions<Call, Reply>,
): RunningProcessPlugin<Call, Reply> {
  const standing = (): PluginStanding | undefined => supervisor.list().find((each) => each.name === name);
  const close = (): Promise<void> => supervisor.stop(name);
  return {
    get evidence() {
      const seen = standing();
      return seen === undefined ? undefined : evidenceOf(seen);
    },
    call: async (call, { signal }) => {
      const instance = await supervisor.instance(name, { signal });
      return readReply(await instance.invokeHook(writeCall(call), { signal }), call.hook);
    },
    health: async ({ signal }) => {
      const seen = standing();
      if (seen?.state !== "running") return restingHealth(seen);
      const instance = await supervisor.instance(name, { signal });
      if (!instance.capabilities.health) return { state: "ready", message: "it runs, and tells nothing more" };
      try {
        const { status, detail } = await instance.health({ signal });
        return { state: "ready", message: detail === undefined ? status : `${status}: ${detail}` };
      } catch (error) {
        signal?.throwIfAborted();
        return { state: "failed", message: error instanceof Error ? error.message : String(error) };
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function evidenceOf({ version, digest, confinement, instance }: PluginStanding): Readonly<Record<string, string>> {
  const known = Object.entries({ version, digest, confinement, instance });
  return Object.fromEntries(known.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

function restingHealth(standing: PluginStanding | undefined): {
  readonly state: "idle" | "failed";
  readonly message: string;
} {
  if (standing?.state === "quarantined" || standing?.state === "failed" || standing?.state === "rejected")
    return { state: "failed", message: standing.message ?? standing.state };
  return {
    state: "idle",
    message: standing?.state === "starting" ? "it is being started" : "it starts with the next call",
  };
}
