import { spawn } from "node:child_process";
import type { PluginLogLine } from "../../instance/instance.js";
import { escapeText } from "../../pipe/escape-text.js";
import { readStderrLines } from "../../pipe/stderr-lines.js";

/** What a command that fills a copy needs. */
export interface PrepareOptions {
  /** Program and arguments; there is no shell. */
  readonly command: readonly string[];
  /** The copy: its working directory. */
  readonly folder: string;
  /** The folder that was copied: the command finds it in `PLUGIN_SOURCE`, and beside it what it may need to fill the copy. */
  readonly source: string;
  readonly timeoutMs: number;
  /** Told of what it writes. */
  readonly onLog: (line: PluginLogLine) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Lines of its output that are told of, and how long each may be. The last ones are in `tail`. */
const maxLines = 10_000;
const maxLineBytes = 8_192;
const tailLines = 5;
const heldOutputMs = 1_000;

/** How it ended: `undefined` is well. */
export interface PrepareFailure {
  readonly why: string;
  /** The last lines that it wrote. */
  readonly tail: readonly string[];
}

/**
 * Runs it with the rights and the environment of this process, and outside of any sandbox: it is for the operator to say whether it
 * may. All processes of its group are ended with it.
 * @throws the signal's reason.
 */
export async function prepareCopy(options: PrepareOptions): Promise<PrepareFailure | undefined> {
  const { command, folder, source, timeoutMs, signal } = options;
  const [file = "", ...args] = command;
  // Its environment is ours: a program with our rights could read it from /proc anyway, and installers need proxies, caches and homes.
  const env = { ...process.env, PLUGIN_SOURCE: source };
  const child = spawn(file, args, { cwd: folder, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const closed = new Promise<void>((resolve) => void child.once("close", () => resolve()));
  const { tail, close } = tellLines(child, options.onLog);
  const bound = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  const endGroup = (): void => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  bound.addEventListener("abort", endGroup);
  if (bound.aborted) endGroup();
  const why = await new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(`${file} could not be run: ${error.message}`));
    child.once("exit", (code, name) => resolve(code === 0 ? undefined : `${file} ended with ${name ?? code}`));
  });
  bound.removeEventListener("abort", endGroup);
  endGroup();
  await allRead(closed);
  close();
  signal?.throwIfAborted();
  if (bound.aborted) return { why: `${file} did not end within ${timeoutMs} ms`, tail };
  return why === undefined ? undefined : { why, tail };
}

function tellLines(
  { stdout, stderr }: Pick<ReturnType<typeof spawn>, "stdout" | "stderr">,
  onLog: PrepareOptions["onLog"],
): { readonly tail: readonly string[]; close(): void } {
  const tail: string[] = [];
  let told = 0;
  const tell = (line: string): void => {
    const text = escapeText(line);
    tail.push(text);
    if (tail.length > tailLines) tail.shift();
    told += 1;
    if (told <= maxLines) onLog({ from: "stderr", level: "info", text });
  };
  const readers = [stdout, stderr].flatMap((stream) => (stream ? [readStderrLines(stream, maxLineBytes, tell)] : []));
  return {
    tail,
    close: () => {
      for (const reader of readers) reader.close();
      stdout?.destroy();
      stderr?.destroy();
    },
  };
}

/** What it wrote last is read too; a process that left its group may hold the pipes open. */
async function allRead(closed: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const held = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, heldOutputMs);
  });
  await Promise.race([closed, held]);
  clearTimeout(timer);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody of the group is left.
  }
}
