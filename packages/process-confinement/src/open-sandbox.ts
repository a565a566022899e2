import { describeIdentity, findCommand } from "./describe-identity.js";
import { ConfinementError } from "./errors.js";
import { holdSandbox } from "./hold-sandbox.js";
import { type ConfinementHost, thisHost } from "./host.js";
import { type Launched, launch } from "./launch.js";
import { planSandbox } from "./plan-sandbox.js";
import { isAlive, type ProcessMark, signalProcess } from "./process-identity.js";
import { readSandboxOptions } from "./read-options.js";
import { refuseHere } from "./refuse-here.js";
import type { Sandbox, SandboxIdentity, SandboxOptions } from "./sandbox.js";
import type { SandboxTerms } from "./sandbox-terms.js";
import { boundStart, type StartBound } from "./start-bound.js";
import { explainFailure, listenForLastWords } from "./start-failure.js";
import { becomesTrue, within } from "./within.js";

/**
 * Starts a command in a sandbox. Resolves when it was executed (handshake `shell`) or let go (handshake `command`).
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID`, `POLICY_INVALID`, `PATH_NOT_FOUND`, `INTERPRETER_NOT_FOUND`,
 * `PLATFORM_UNSUPPORTED`, `SPAWN_FROM_WORKER`, `CONFINEMENT_UNAVAILABLE`, `LIMIT_NOT_ENFORCEABLE`, `SANDBOX_NOT_STARTED`,
 * `START_TIMEOUT`. Also the signal's reason, and what `record` threw.
 */
export function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  return openSandboxOn(thisHost(), options);
}

/** As `openSandbox`, on a machine that is passed in. */
export async function openSandboxOn(host: ConfinementHost, options: SandboxOptions): Promise<Sandbox> {
  options.signal?.throwIfAborted();
  const tools = refuseHere(host);
  const terms = readSandboxOptions(options);
  const named = Object.entries(terms.policy.limits).find(([, value]) => value !== undefined);
  if (named !== undefined) {
    const message = `${named[0]} cannot be held here`;
    throw new ConfinementError("LIMIT_NOT_ENFORCEABLE", message, { field: `limits.${named[0]}` });
  }
  const plan = planSandbox(terms);
  const bound = boundStart(terms.startTimeoutMs, terms.signal);
  try {
    return await letGo(await launch(plan, tools, []), terms, bound);
  } finally {
    bound.release();
  }
}

async function letGo(launched: Launched, terms: SandboxTerms, bound: StartBound): Promise<Sandbox> {
  let init: ProcessMark | undefined;
  try {
    const identity = await whenReady(launched, terms, bound);
    init = identity.init;
    const command = terms.asPid1 ? identity.init : findCommand(identity.init);
    await bound.wait((async () => terms.record?.(identity))());
    bound.throwIfOver();
    launched.word.write("go\n");
    if (terms.handshake === "shell") await bound.wait(whenExecuted(launched, terms));
    return present(launched, identity, command, terms);
  } catch (error) {
    await abandon(launched, init);
    throw error;
  }
}

async function whenReady(launched: Launched, terms: SandboxTerms, bound: StartBound): Promise<SandboxIdentity> {
  const words = listenForLastWords(launched.stderr);
  const [init, isReady] = await bound.wait(Promise.all([launched.status.init, launched.ready.ready]));
  if (init === undefined || !isReady) throw explainFailure(await words.read());
  return describeIdentity(terms.name, launched.outer, init);
}

async function whenExecuted(launched: Launched, { file }: SandboxTerms): Promise<void> {
  const failure = await launched.ready.failure;
  if (failure === undefined) return;
  const words = await listenForLastWords(launched.stderr).read();
  throw new ConfinementError("SANDBOX_NOT_STARTED", `${file} could not be executed inside: ${words || failure}`);
}

const insideMs = 500;
const goneMs = 5_000;

/** After a failed start: whatever waits inside gives up when the word can no longer come. */
async function abandon(launched: Launched, init: ProcessMark | undefined): Promise<void> {
  launched.word.destroy();
  for (const stream of [launched.stdin, launched.stdout, launched.stderr]) stream.on("error", () => {}).destroy();
  if (init !== undefined) signalProcess(init, "SIGKILL");
  if (!(await within(launched.exited, insideMs))) signalProcess(launched.outer, "SIGKILL");
  await within(launched.exited, goneMs);
  if (init !== undefined) await becomesTrue(() => !isAlive(init), goneMs);
}

function present(launched: Launched, identity: SandboxIdentity, command: ProcessMark, terms: SandboxTerms): Sandbox {
  const held = holdSandbox({
    launched,
    identity,
    command,
    asPid1: terms.asPid1,
    cleanUp: async () => ({ memoryKills: undefined }),
  });
  const close = (): Promise<void> => held.end("closed", terms.graceMs);
  return {
    name: terms.name,
    identity,
    stdin: launched.stdin,
    stdout: launched.stdout,
    stderr: launched.stderr,
    enforced: [],
    exited: held.exited,
    signal: held.signal,
    usage: () => ({ memoryBytes: undefined, processes: undefined, cpuMs: undefined }),
    close,
    kill: () => held.end("closed", 0),
    [Symbol.asyncDispose]: close,
  };
}
