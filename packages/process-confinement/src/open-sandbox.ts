import { watchFolders } from "./disk-watch/watch-folders.js";
import { foldersToWatch } from "./disk-watch/watched-folders.js";
import { type HeldSandbox, holdSandbox } from "./end/hold-sandbox.js";
import { createOutputMeter } from "./end/output-meter.js";
import { isConfinementError } from "./errors.js";
import type { ControlGroups } from "./limits/control-groups.js";
import { limitSandbox, type SandboxLimits } from "./limits/limit-sandbox.js";
import { thisLimitsHost } from "./limits/limits-host.js";
import { planSandbox } from "./plan/plan-sandbox.js";
import { markBinds } from "./plan/verify-binds.js";
import { readSandboxOptions } from "./reading/read-options.js";
import type { SandboxTerms } from "./reading/sandbox-terms.js";
import type { Sandbox, SandboxOptions } from "./sandbox.js";
import { abandon } from "./start/abandon.js";
import { type ConfinementHost, thisHost } from "./start/host.js";
import { becomeBubblewrap, type Launched, type Launcher, startLauncher } from "./start/launch.js";
import { type LauncherStock, noStock } from "./start/launcher-stock.js";
import { refuseHere } from "./start/refuse-here.js";
import { boundStart } from "./start/start-bound.js";
import { type Started, startSandbox } from "./start/start-sandbox.js";

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
export async function openSandboxOn(
  host: ConfinementHost,
  options: SandboxOptions,
  stock: LauncherStock = noStock,
): Promise<Sandbox> {
  options.signal?.throwIfAborted();
  const tools = refuseHere(host);
  const terms = readSandboxOptions(options);
  const machine = thisLimitsHost(host.findTool);
  const limits = limitSandbox(terms, machine);
  const plan = planSandbox(terms, { findTool: host.findTool, innerPrefix: limits.innerPrefix });
  const binds = markBinds(plan.mounts);
  const { command } = plan;
  const { noGrowth } = terms.policy;
  const fresh = (): Promise<Launcher> => startLauncher(host, { tools, command, noGrowth });
  // The groups are made while the launcher comes up. One that waits has the usual filter already.
  const taken = (noGrowth ? undefined : stock.take(machine, plan)) ?? fresh();
  const groups = await makeGroupsBeside(limits, taken);
  const bound = boundStart(terms.startTimeoutMs, terms.signal);
  const start = async (launcher: Promise<Launcher>, disableUserNamespaces: boolean): Promise<Opened> => {
    const launched = becomeBubblewrap(await launcher, { ...plan, disableUserNamespaces }, limits.joinLine(groups));
    const started = await startSandbox(launched, terms, { groups, binds }, bound);
    return { launched, started, terms, limits, groups };
  };
  try {
    const opened = await start(taken, true).catch((error: unknown) => {
      if (!cannotDisableUserNamespaces(error)) throw error;
      return start(fresh(), false);
    });
    return present(opened);
  } catch (error) {
    await groups.end();
    throw error;
  } finally {
    bound.release();
  }
}

async function makeGroupsBeside(limits: SandboxLimits, taken: Promise<Launcher>): Promise<ControlGroups> {
  try {
    return limits.makeGroups();
  } catch (error) {
    await taken.then(
      ({ launched }) => abandon(launched),
      () => {}, // it was not started: nothing to end
    );
    throw error;
  }
}

const cannotDisable = /--disable-userns|sysctl user\.max_user_namespaces|\/proc\/sys\/user\/max_user_namespaces/;

/**
 * A bubblewrap before 0.8, or one that may not write below /proc/sys. Trying is cheaper than asking for its version at each
 * start, and the system call filter refuses the same.
 */
function cannotDisableUserNamespaces(error: unknown): boolean {
  return isConfinementError(error) && cannotDisable.test(error.message);
}

interface Opened {
  readonly launched: Launched;
  readonly started: Started;
  readonly terms: SandboxTerms;
  readonly limits: SandboxLimits;
  readonly groups: ControlGroups;
}

/** For another try at control groups that could not be removed at the end. */
const removeAgainMs = 1_000;

function present({ launched, started, terms, limits, groups }: Opened): Sandbox {
  const held = holdSandbox({
    launched,
    ...started,
    asPid1: terms.asPid1,
    letGo: () => void watch?.close(),
    cleanUp: async () => {
      const memoryKills = groups.memoryKills();
      const [isRemoved] = await Promise.all([groups.end(), watch?.close()]);
      return { memoryKills, isRemoved };
    },
    removeGroups: () => groups.end({ timeoutMs: removeAgainMs }),
  });
  const folders = foldersToWatch(terms.policy);
  const watch =
    folders.length === 0
      ? undefined
      : watchFolders({
          folders,
          init: started.identity.init.pid,
          freezer: groups.freezer,
          onExcess: () => endFor("disk", held),
        });
  const { outputBytes } = terms.policy.limits;
  const meter = outputBytes === undefined ? undefined : createOutputMeter(outputBytes, () => endFor("output", held));
  const close = (): Promise<void> => held.end("closed", terms.graceMs);
  return {
    name: terms.name,
    identity: started.identity,
    stdin: launched.stdin,
    stdout: meter?.watch(launched.stdout) ?? launched.stdout,
    stderr: meter?.watch(launched.stderr) ?? launched.stderr,
    enforced: limits.enforced,
    exited: held.exited,
    signal: held.signal,
    usage: groups.usage,
    close,
    kill: () => held.end("closed", 0),
    [Symbol.asyncDispose]: close,
  };
}

/** Nobody waits for this end: that it failed is told to whoever closes the sandbox. */
function endFor(reason: "output" | "disk", held: HeldSandbox): void {
  held.end(reason, 0).catch(() => {});
}
