import { ConfinementError } from "../errors.js";
import { describeIdentity, findCommand } from "../identity/describe-identity.js";
import { isFiltered, type ProcessMark } from "../identity/process-identity.js";
import type { ControlGroups } from "../limits/control-groups.js";
import { type BindMark, verifyBinds } from "../plan/verify-binds.js";
import type { SandboxTerms } from "../reading/sandbox-terms.js";
import type { SandboxIdentity } from "../sandbox.js";
import { becomesTrue } from "../waits/within.js";
import { abandon } from "./abandon.js";
import type { Launched } from "./launch.js";
import type { StartBound } from "./start-bound.js";
import { explainFailure, readLastWords } from "./start-failure.js";
import type { ToldInit } from "./status-stream.js";

/** A sandbox whose command runs. */
export interface Started {
  readonly identity: SandboxIdentity;
  /** The command itself; process 1 when it is that. */
  readonly command: ProcessMark;
}

/** What is recorded and checked while the first process inside waits. */
export interface StartChecks {
  readonly groups: Pick<ControlGroups, "paths" | "freezer">;
  readonly binds: readonly BindMark[];
}

/**
 * Speaks the host's half of the handshake: waits for the first process inside, has it recorded, and lets it go. When this
 * throws, nothing of the sandbox is left.
 */
export async function startSandbox(
  launched: Launched,
  terms: SandboxTerms,
  { groups, binds }: StartChecks,
  bound: StartBound,
): Promise<Started> {
  try {
    const init = await whenReady(launched, bound);
    const identity = describeIdentity({ name: terms.name, outer: launched.outer, init, controlGroups: groups.paths });
    await bound.wait(whenSetUp(init.pid));
    const command = terms.asPid1 ? identity.init : findCommand(identity.init);
    verifyBinds(binds, init.pid);
    await bound.wait((async () => terms.record?.(identity))());
    bound.throwIfOver();
    letGo(launched, groups.freezer?.thawFile);
    launched.word.write("go\n");
    if (terms.handshake === "shell") await bound.wait(whenExecuted(launched, terms.file));
    return { identity, command };
  } catch (error) {
    await abandon(launched);
    throw error;
  }
}

/** The watcher's work is over, unless there is something to thaw when the host is killed. */
function letGo({ lifeline }: Launched, thawFile: string | undefined): void {
  if (thawFile === undefined) lifeline.end("go\n");
  else lifeline.write(`go ${thawFile}\n`);
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

async function whenExecuted({ ready, stderr }: Launched, file: string): Promise<void> {
  const failure = await ready.failure;
  if (failure === undefined) return;
  const words = await readLastWords(stderr);
  throw new ConfinementError("SANDBOX_NOT_STARTED", `${file} could not be executed inside: ${words || failure}`);
}
