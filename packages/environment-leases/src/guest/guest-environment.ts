import type { DisposableEnvironment } from "../environment.js";
import { LeaseError } from "../errors.js";
import type { ProfileTerms } from "../profile.js";
import { readCommand, readStdin, readTimeout } from "./command-terms.js";
import type { ForwardFrame } from "./control-channel.js";
import { startDeadlineClock } from "./deadline.js";
import type { DialListener } from "./dial-listener.js";
import { type Ending, watchEnding } from "./ending.js";
import { connectAgent, type GuestAgent } from "./guest-agent.js";
import type { GuestHost, GuestPlaces } from "./guest-host.js";
import type { GuestBounds } from "./guest-limits.js";
import { guestProcess } from "./guest-process.js";
import { keepTail } from "./keep-tail.js";
import { installPackages } from "./packages/install-packages.js";
import { requestResource } from "./relay/request-resource.js";
import { runCommand } from "./run-command.js";
import { terminalAccess } from "./terminal-access.js";

export interface GuestEnvironmentOptions {
  readonly host: GuestHost;
  readonly listener: DialListener;
  readonly places: GuestPlaces;
  readonly profile: ProfileTerms;
  readonly bounds: GuestBounds;
  readonly deadlineMs: number;
  readonly forward?: ForwardFrame | undefined;
  readonly restriction?: string | undefined;
  /** Removes what is left on the host once everything inside has ended. */
  readonly cleanup: () => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/** What the operations of one environment share. */
export interface GuestSurroundings {
  readonly agent: GuestAgent;
  readonly bounds: GuestBounds;
  readonly ending: Ending;
  readonly places: GuestPlaces;
  readonly profile: ProfileTerms;
}

/** An environment whose agent has said that it is ready. Owns the host and the listener, also when it rejects. */
export async function openGuestEnvironment(options: GuestEnvironmentOptions): Promise<DisposableEnvironment> {
  const { host, places, profile, bounds, deadlineMs, forward, signal } = options;
  const complaints = keepTail(host.stderr);
  const clock = startDeadlineClock(deadlineMs);
  let fault: string | undefined;
  const ended = host.exited.then((exit) => {
    if (fault !== undefined)
      return { reason: "unknown" as const, detail: `ended by the host: the agent inside sent ${fault}` };
    return clock.explain(exit);
  });
  const onFault = (seen: string): void => {
    fault ??= seen;
    // Whether it could be ended is told by `close`; whoever uses the environment sees that it has.
    host.kill().catch(() => {});
  };
  options.listener.onFlood(() => onFault("more wrong streams than a mistake explains"));
  const ending = watchEnding(ended);
  const close = closeOnce(options);
  // Nothing of it is of use any more, whoever ended it. A failure is told to whoever closes it.
  ending.watch(() => void close().catch(() => {}));
  const agent = connectAgent({ ...host, listener: options.listener, dialPath: places.dial, bounds, ending, onFault });
  try {
    await agent.hello({ deadlineMs, forward, signal });
  } catch (error) {
    await close();
    signal?.throwIfAborted();
    throw notCreated(error, complaints());
  }
  return {
    ...environmentOperations({ agent, bounds, ending, places, profile }),
    enforced: host.enforced,
    restriction: options.restriction,
    workspace: places.workspace,
    interpreter: places.interpreter,
    ended,
    setDeadline(remainingMs) {
      clock.set(remainingMs);
      agent.setDeadline(remainingMs);
    },
    usage: () => host.usage(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Operations = Pick<
  DisposableEnvironment,
  "run" | "open" | "installShell" | "openTerminal" | "installPackages" | "requestResource"
>;

function environmentOperations(surroundings: GuestSurroundings): Operations {
  const { agent, places, profile } = surroundings;
  const cwd = places.workspace;
  return {
    async run(argv, options = {}) {
      const command = readCommand(argv, options, cwd);
      const timeoutMs = readTimeout(options, profile.policy.commandTimeoutMs);
      const { interrupt, signal } = options;
      return runCommand(surroundings, { command, stdin: readStdin(options), timeoutMs, interrupt, signal });
    },
    async open(argv, options = {}) {
      const frame = { op: "spawn" as const, stdin: "stream" as const, ...readCommand(argv, options, cwd) };
      return guestProcess(await agent.start(frame, { streams: 2, signal: options.signal }));
    },
    ...terminalAccess(surroundings),
    installPackages: (wheels, options = {}) => installPackages(surroundings, wheels, options),
    requestResource: (request) => requestResource(surroundings, request),
  };
}

/** Ends everything once; after a failure it may be tried again. */
function closeOnce({ host, listener, cleanup }: GuestEnvironmentOptions): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    try {
      await host.kill();
      await listener.close();
      await cleanup();
    } catch (error) {
      closing = undefined;
      throw error;
    }
  };
  return () => (closing ??= end());
}

function notCreated(cause: unknown, complaints: string): LeaseError {
  const why = complaints === "" ? (cause instanceof Error ? cause.message : "it did not start") : complaints;
  return new LeaseError("ENVIRONMENT_NOT_CREATED", `the environment's first process was not ready: ${why}`, { cause });
}
