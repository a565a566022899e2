import type {
  CommandOptions,
  CommandResult,
  DisposableEnvironment,
  GuestProcess,
  GuestProcessOptions,
  HeldLimit,
} from "../environment.js";
import { LeaseError } from "../errors.js";
import { collectOutput } from "../guest/collect-output.js";
import { readCommand, readStdin, readTimeout } from "../guest/command-terms.js";
import { terminalChannel } from "../guest/terminal.js";
import type { ProfileTerms } from "../profile.js";
import type { Scheduler } from "../scheduler.js";
import { installWheels, relayRequest } from "./extras.js";
import { type MemoryProcess, startMemoryProcess } from "./process.js";
import type { MemoryProgram } from "./programs.js";
import type { MemoryWorker } from "./world.js";

/** What an environment in memory is made of. */
export interface MemoryParts {
  readonly worker: MemoryWorker;
  readonly profile: ProfileTerms;
  readonly programs: ReadonlyMap<string, MemoryProgram>;
  readonly scheduler: Scheduler;
  /** Before each operation: may fail it, or let it hang. */
  readonly before: (step: "run" | "open" | "close") => Promise<void>;
}

const workspace = "/workspace";
const maxOutputBytes = 2 ** 20;

export function createMemoryEnvironment(parts: MemoryParts): DisposableEnvironment {
  const { worker, profile } = parts;
  const close = async (): Promise<void> => {
    await parts.before("close");
    worker.end({ reason: "closed", detail: "closed" });
  };
  return {
    enforced: heldLimits(profile),
    workspace,
    interpreter: profile.template,
    ended: worker.ended.promise,
    async run(argv, options = {}) {
      const timeoutMs = readTimeout(options, profile.policy.commandTimeoutMs);
      const stdin = readStdin(options);
      options.signal?.throwIfAborted();
      await parts.before("run");
      return runToEnd(parts, start(parts, argv, options), { options, timeoutMs, stdin });
    },
    async open(argv, options = {}) {
      options.signal?.throwIfAborted();
      await parts.before("open");
      options.signal?.throwIfAborted();
      return guestProcess(start(parts, argv, options));
    },
    async installShell() {
      assertAlive(worker);
      if (!profile.shell) throw new LeaseError("SHELL_NOT_GRANTED", "the profile grants no shell");
      worker.hasShell = true;
    },
    async openTerminal() {
      assertAlive(worker);
      if (!worker.hasShell) throw new LeaseError("SHELL_NOT_GRANTED", "no shell was installed");
      // Its program gives back what is written.
      const { stream, close } = guestProcess(start(parts, ["copy"], {}));
      return terminalChannel({ stream, kill: close, resize: () => undefined });
    },
    async installPackages(wheels, options = {}) {
      assertAlive(worker);
      return installWheels(profile, wheels, options);
    },
    async requestResource(request) {
      assertAlive(worker);
      return relayRequest(profile, request);
    },
    setDeadline: worker.setDeadline,
    usage: () => ({ memoryBytes: undefined, processes: worker.processes.size }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function heldLimits({ policy }: ProfileTerms): readonly HeldLimit[] {
  return Object.entries(policy.limits).flatMap(([limit, value]) =>
    value === undefined ? [] : [{ limit, value, by: "memory" }],
  );
}

function assertAlive(worker: MemoryWorker): void {
  if (!worker.isAlive) throw new LeaseError("ENVIRONMENT_ENDED", `the worker ${worker.name} has ended`);
}

function start(
  { worker, profile, programs }: MemoryParts,
  argv: readonly string[],
  options: GuestProcessOptions,
): MemoryProcess {
  const terms = readCommand(argv, options, workspace);
  assertAlive(worker);
  const [name = "", ...args] = terms.argv;
  const program = programs.get(name);
  if (program === undefined) throw new LeaseError("COMMAND_NOT_STARTED", `there is no program ${JSON.stringify(name)}`);
  const process = startMemoryProcess({ program, args, env: { ...profile.env, ...terms.env }, cwd: terms.cwd });
  worker.processes.add(process);
  void process.exited.then(() => worker.processes.delete(process));
  return process;
}

function guestProcess({ stream, stderr, exited, signal }: MemoryProcess): GuestProcess {
  const close = async (): Promise<void> => {
    signal("SIGKILL");
    await exited;
  };
  return { stream, stderr, exited, signal: (name) => signal(name), close, [Symbol.asyncDispose]: close };
}

interface RunTerms {
  readonly options: CommandOptions;
  readonly timeoutMs: number;
  readonly stdin: Uint8Array;
}

async function runToEnd(
  { scheduler, worker }: MemoryParts,
  process: MemoryProcess,
  { options, timeoutMs, stdin }: RunTerms,
): Promise<CommandResult> {
  const startedAt = scheduler.now();
  let refusal: { readonly error: unknown } | undefined;
  const stop = (error: unknown): void => {
    refusal ??= { error };
    process.signal("SIGKILL");
  };
  const timer = scheduler.after(timeoutMs, () =>
    stop(new LeaseError("COMMAND_TIMEOUT", `not done after ${timeoutMs} ms`)),
  );
  const abort = (): void => stop(options.signal?.reason);
  const interrupt = (): void => process.signal("SIGINT");
  options.signal?.addEventListener("abort", abort, { once: true });
  options.interrupt?.addEventListener("abort", interrupt, { once: true });
  if (options.signal?.aborted === true) abort();
  if (options.interrupt?.aborted === true) interrupt();
  try {
    const stdout = collectOutput(process.stream, maxOutputBytes);
    const stderr = collectOutput(process.stderr, maxOutputBytes);
    process.stream.end(stdin);
    const [{ code, signal }] = await Promise.all([process.exited, stdout.done, stderr.done]);
    if (refusal !== undefined) throw refusal.error;
    assertAlive(worker);
    return {
      exitCode: code,
      signal,
      stdout: stdout.bytes(),
      stderr: stderr.bytes(),
      stdoutBytes: stdout.total(),
      stderrBytes: stderr.total(),
      durationMs: scheduler.now() - startedAt,
    };
  } finally {
    timer.cancel();
    options.signal?.removeEventListener("abort", abort);
    options.interrupt?.removeEventListener("abort", interrupt);
  }
}
