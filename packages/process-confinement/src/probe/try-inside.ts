import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { openSandboxOn } from "../open-sandbox.js";
import type { ConfinementPolicy } from "../policy.js";
import type { Sandbox, SandboxExit } from "../sandbox.js";
import type { ConfinementHost } from "../start/host.js";

/** A short command that is run in a real sandbox, to see what happens. */
export interface Trial {
  /** Unique on this machine. */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly policy: ConfinementPolicy;
  /** Looked at whenever it has written something, and then again and again; what it writes later is of no interest. */
  readonly isEnough?: ((seen: Seen, sandbox: Sandbox) => boolean) | undefined;
}

/** What a trial wrote so far, each at most 64 KiB. */
export interface Seen {
  readonly stdout: string;
  readonly stderr: string;
}

/** How a trial went. */
export interface TrialResult extends Seen {
  /** `enough`: `isEnough` said so. `late`: it was ended for want of an end. */
  readonly ended: "itself" | "enough" | "late";
  readonly exit: SandboxExit;
  readonly enforced: Sandbox["enforced"];
}

/** A trial that takes longer has shown nothing. */
const trialMs = 10_000;
const maxBytes = 65_536;
/** From one look at what grows without a word to the next. */
const lookMs = 20;
/** Where the shell and its programs lie inside. */
export const trialEnvironment = { PATH: "/usr/bin:/bin" } as const;

/** Runs it to its end, or ends it. Throws what `openSandbox` throws. */
export async function tryInside(
  host: ConfinementHost,
  { name, file, args, policy, isEnough }: Trial,
  signal: AbortSignal | undefined,
): Promise<TrialResult> {
  const options = { name, file, args, policy, env: trialEnvironment, signal };
  await using sandbox = await openSandboxOn(host, { ...options, graceMs: 0 });
  sandbox.stdin.on("error", () => {}).end();
  const streams = [collect(sandbox.stdout), collect(sandbox.stderr)] as const;
  const seen = (): Seen => ({ stdout: streams[0].text(), stderr: streams[1].text() });
  const ended = await whatComesFirst(sandbox, () => isEnough?.(seen(), sandbox) ?? false, signal);
  await sandbox.kill();
  // What was written at the end comes after the end.
  await Promise.all(streams.map(({ closed }) => closed));
  signal?.throwIfAborted();
  return { ...seen(), ended, exit: await sandbox.exited, enforced: sandbox.enforced };
}

function whatComesFirst(
  sandbox: Sandbox,
  isEnough: () => boolean,
  signal: AbortSignal | undefined,
): Promise<TrialResult["ended"]> {
  return new Promise((resolve) => {
    const look = setInterval(() => isEnough() && finish("enough"), lookMs);
    const late = setTimeout(() => finish("late"), trialMs);
    const onAbort = (): void => finish("late");
    signal?.addEventListener("abort", onAbort);
    const finish = (ended: TrialResult["ended"]): void => {
      clearInterval(look);
      clearTimeout(late);
      signal?.removeEventListener("abort", onAbort);
      resolve(ended);
    };
    void sandbox.exited.then(() => finish("itself"));
  });
}

interface Collected {
  text(): string;
  /** Also when the stream has ended before anybody looked. */
  readonly closed: Promise<void>;
}

function collect(stream: Readable): Collected {
  let bytes = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk.subarray(0, maxBytes - bytes.length)]);
  });
  // A fault of the pipe is an end as well: how the sandbox ended is told by its exit.
  return { text: () => bytes.toString("utf8"), closed: finished(stream).catch(() => {}) };
}
