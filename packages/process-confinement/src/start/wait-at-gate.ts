import { ConfinementError } from "../errors.js";
import { describeIdentity, findCommand } from "../identity/describe-identity.js";
import { isFiltered, type ProcessMark } from "../identity/process-identity.js";
import { verifyBinds } from "../plan/verify-binds.js";
import type { SandboxIdentity } from "../sandbox.js";
import { becomesTrue } from "../waits/within.js";
import { abandon } from "./abandon.js";
import type { Launched } from "./launch.js";
import type { Layout } from "./lay-out.js";
import type { StartBound } from "./start-bound.js";
import { explainFailure, readLastWords } from "./start-failure.js";
import type { ToldInit } from "./status-stream.js";

/** A sandbox whose first process waits for the host's word. */
export interface AtGate {
  readonly identity: SandboxIdentity;
  /** What becomes the command, or is it; process 1 when it is that. */
  readonly command: ProcessMark;
}

/**
 * The first part of the host's half of the handshake: waits for the first process inside, and checks what it sees. When this
 * throws, nothing of the sandbox is left.
 */
export async function waitAtGate(
  launched: Launched,
  { terms, binds }: Layout,
  controlGroups: readonly string[],
  bound: StartBound,
): Promise<AtGate> {
  try {
    const init = await whenReady(launched, bound);
    const identity = describeIdentity({ name: terms.name, outer: launched.outer, init, controlGroups });
    await bound.wait(whenSetUp(init.pid));
    const command = terms.asPid1 ? identity.init : findCommand(identity.init);
    verifyBinds(binds, init.pid);
    return { identity, command };
  } catch (error) {
    await abandon(launched);
    throw error;
  }
}

async function whenReady({ status, ready, stderr }: Launched, bound: StartBound): Promise<ToldInit> {
  const [init, isReady] = await bound.wait(Promise.all([status.init, ready.ready]));
  if (init === undefined || !isReady) throw explainFailure(await readLastWords(stderr));
  return init;
}

const setUpMs = 5_000;

/**
 * bubblewrap's own process 1 asks for its death signal, and then for the filter, beside the first process that it started: that
 * one may speak earlier. Let go before, it could outlive a host that dies at once.
 */
async function whenSetUp(init: number): Promise<void> {
  if (await becomesTrue(() => isFiltered(init), setUpMs)) return;
  throw new ConfinementError(
    "SANDBOX_NOT_STARTED",
    "process 1 of the sandbox did not come under its system call filter",
  );
}
