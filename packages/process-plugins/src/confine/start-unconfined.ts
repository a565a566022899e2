import { type ChildProcess, spawn } from "node:child_process";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { type ChildHandle, isStdioTransportError, openChild, type SpawnFunction } from "@berth/stdio-transport";
import { ProcessPluginError } from "../errors.js";
import { prepareDataFolder } from "./data-folder.js";
import type { PluginProcess, PluginProcessOptions } from "./plugin-process.js";

/** The plugin's own stages are asked for one by one: the child's must not come before them. */
const noStages = { inputMs: 0, terminateMs: 600_000 } as const;

/**
 * Starts a plugin without a sandbox: it has all rights of this user, and no limit is held. Its processes are ended with it, as
 * stdio-transport does it.
 * @param containment `group`: in no namespace of its own, where that is the point; what leaves its group then stays.
 * @throws {ProcessPluginError} `PLUGIN_NOT_STARTED`, `OPTION_INVALID`. Also the signal's reason.
 */
export async function startUnconfined(
  options: PluginProcessOptions,
  containment: "auto" | "group" = "auto",
): Promise<PluginProcess> {
  const { launch, plugin, signal } = options;
  await prepareDataFolder(options.dataFolder, plugin);
  const holder = holdPipes();
  try {
    const { file, args, env } = launch;
    const means = { cwd: plugin.root, spawn: holder.spawn, containment, graceMs: noStages, signal };
    const child = await openChild({ file, args, env, ...means });
    return present(child, holder.pipes(), plugin.manifest.name);
  } catch (error) {
    throw refusalOf(error, plugin.manifest.name);
  }
}

interface Pipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** The child's own pipes, which its transport hides; of several launchers that are tried, those of the last. */
function holdPipes(): { readonly spawn: SpawnFunction; readonly pipes: () => Pipes } {
  let held: Pipes | undefined;
  return {
    spawn: (file, args, { env, cwd, stdio, detached }) => {
      const child = spawn(file, args, { env: { ...env }, cwd, stdio: [...stdio], detached });
      held = pipesOf(child);
      return child;
    },
    pipes: () => {
      if (held === undefined) throw new Error("a child without the pipes of its launcher");
      return held;
    },
  };
}

function pipesOf({ stdin, stdout, stderr }: ChildProcess): Pipes | undefined {
  if (stdin === null || stdout === null || stderr === null) return undefined;
  return { stdin, stdout: copyOf(stdout), stderr: copyOf(stderr) };
}

/** Who holds the child reads and pauses its outputs too, as it ends: what the reader has must be untouched by that. */
function copyOf(stream: Readable): Readable {
  const copy = new PassThrough();
  stream.once("close", () => copy.end()); // also where it was destroyed, which ends no pipe
  return stream.pipe(copy);
}

function present(child: ChildHandle, { stdin, stdout, stderr }: Pipes, plugin: string): PluginProcess {
  let isAsked = false;
  const ending = async (end: () => Promise<void>): Promise<void> => {
    isAsked = true;
    try {
      await end();
    } catch (error) {
      throw refusalOf(error, plugin);
    }
  };
  return {
    pid: child.pid,
    stdin,
    stdout,
    stderr,
    confinement: "unconfined",
    enforced: [],
    exited: child.exited.then(({ code, signal }) => {
      const reason = signal === null ? "exited" : "signalled";
      return { code: code ?? undefined, signal: signal ?? undefined, reason: isAsked ? "ended" : reason };
    }),
    endInput: () => void stdin.end(),
    terminate: () => {
      ending(child.close).catch(() => {}); // whoever asks for `kill` is told
    },
    kill: () => ending(child.kill),
  };
}

function refusalOf(error: unknown, plugin: string): unknown {
  if (!isStdioTransportError(error)) return error;
  const code = error.code === "CHILD_NOT_ENDED" ? "PLUGIN_NOT_ENDED" : "PLUGIN_NOT_STARTED";
  return new ProcessPluginError(code, error.message, { plugin, cause: error });
}
