import { isConfinementError } from "../errors.js";
import type { ControlGroups } from "../limits/control-groups.js";
import type { SandboxLimits } from "../limits/limit-sandbox.js";
import { abandon } from "./abandon.js";
import type { ConfinementHost } from "./host.js";
import { becomeBubblewrap, type Launched, type Launcher, startLauncher } from "./launch.js";
import { type LauncherStock, noStock } from "./launcher-stock.js";
import type { Layout } from "./lay-out.js";
import type { StartBound } from "./start-bound.js";
import { type AtGate, waitAtGate } from "./wait-at-gate.js";

/** A sandbox that is up. Its command waits for the host's word. */
export interface Raised extends AtGate {
  readonly layout: Layout;
  readonly launched: Launched;
  readonly groups: ControlGroups;
}

export interface RaiseOptions {
  readonly bound: StartBound;
  readonly stock?: LauncherStock | undefined;
  /** Program and arguments that go before everything else. */
  readonly before?: readonly string[] | undefined;
}

/**
 * Makes the control groups and the sandbox, up to the moment at which its command can be let go. When this throws, nothing of
 * it is left.
 */
export async function raiseSandbox(
  host: ConfinementHost,
  layout: Layout,
  { bound, stock = noStock, before }: RaiseOptions,
): Promise<Raised> {
  const { tools, machine, limits, plan } = layout;
  const { noGrowth } = layout.terms.policy;
  const fresh = (): Promise<Launcher> => startLauncher(host, { tools, before, command: plan.command, noGrowth });
  // The groups are made while the launcher comes up. One that waits has the usual filter already.
  const taken = (noGrowth ? undefined : stock.take(machine, plan)) ?? fresh();
  const groups = await makeGroupsBeside(limits, taken);
  const raise = async (launcher: Promise<Launcher>, disableUserNamespaces: boolean): Promise<Raised> => {
    const launched = becomeBubblewrap(await launcher, { ...plan, disableUserNamespaces }, limits.joinLine(groups));
    return { ...(await waitAtGate(launched, layout, groups.paths, bound)), layout, launched, groups };
  };
  try {
    return await raise(taken, true).catch((error: unknown) => {
      if (!cannotDisableUserNamespaces(error)) throw error;
      return raise(fresh(), false);
    });
  } catch (error) {
    await groups.end();
    throw error;
  }
}

/** Ends one whose command was not let go, or did not become what it should. */
export async function endRaised({ launched, groups }: Raised): Promise<void> {
  await abandon(launched);
  await groups.end();
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
