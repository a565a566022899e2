import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { isConfinementError } from "../errors.js";
import { openSandbox } from "../open-sandbox.js";
import type { Sandbox, SandboxExit } from "../sandbox.js";
import { type Launch, readLaunch, sandboxPolicy } from "./launch-text.js";

// The launcher, started by what `confine` gives: it opens the sandbox and is a pipe to it. Its own environment is the command's.

/** As a shell says that a command could not be executed. */
const notStarted = 126;
/** Whoever ends the launcher means the command, which gets SIGTERM and its grace. */
const endings = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

async function run(launch: Launch, [file = "", ...args]: readonly string[]): Promise<number> {
  const ending = new AbortController();
  for (const signal of endings) process.on(signal, () => ending.abort(new Error(`${signal} came first`)));
  await using sandbox = await openSandbox({
    name: `launch-${randomUUID()}`,
    file,
    args,
    env: ownEnvironment(),
    cwd: launch.cwd,
    policy: sandboxPolicy(launch),
    signal: ending.signal,
  });
  pipe(sandbox, ending);
  return statusOf(await sandbox.exited);
}

function pipe(sandbox: Sandbox, ending: AbortController): void {
  const close = (): void => void sandbox.close().catch(() => {}); // tried once more, and told, by its disposal
  ending.signal.addEventListener("abort", close);
  if (ending.signal.aborted) close();
  process.stdin.pipe(sandbox.stdin);
  sandbox.stdin.on("error", () => {}); // the command may end before it has read all
  for (const [inner, outer] of [
    [sandbox.stdout, process.stdout],
    [sandbox.stderr, process.stderr],
  ] as const) {
    // Nobody reads any more: without an end the command would wait for room for ever.
    outer.on("error", () => ending.abort());
    inner.pipe(outer);
  }
}

function ownEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return Object.fromEntries(entries);
}

/** As a shell tells it. */
function statusOf({ code, signal }: SandboxExit): number {
  return code ?? 128 + (signal === undefined ? 0 : constants.signals[signal]);
}

function tell(error: unknown, name: string): void {
  const message = error instanceof Error ? error.message : String(error);
  const cure = isConfinementError(error) && error.cure !== undefined ? ` (${error.cure})` : "";
  process.stderr.write(`${name}: ${message}${cure}\n`);
}

const [, , text, ...command] = process.argv;
const launch = readLaunch(text);
try {
  if (launch === undefined) throw new Error("it is started by what `confine` gives only");
  process.exitCode = await run(launch, command);
} catch (error) {
  tell(error, launch?.name ?? "launcher");
  process.exitCode = notStarted;
}
// What is piped to stdout leaves first; an input that nobody ends would keep the process.
process.stdin.destroy();
