import { ConfinementError } from "../errors.js";
import { isAlive, type ProcessMark, signalProcess } from "../identity/process-identity.js";
import type { SandboxExit, SandboxIdentity } from "../sandbox.js";
import type { Launched } from "../start/launch.js";
import { becomesTrue, within } from "../waits/within.js";
import { readExit } from "./read-exit.js";

/** From SIGKILL until the absence must be confirmed; then `SANDBOX_NOT_ENDED`. */
const killMs = 5_000;
/** How long process 1 may take to be gone before bubblewrap itself is killed as well. */
const insideMs = 1_000;

/** The life of one sandbox after its start. */
export interface HeldSandbox {
  readonly exited: Promise<SandboxExit>;
  /** Ends everything; the first reason counts. */
  end(reason: EndReason, graceMs: number): Promise<void>;
  signal(name: NodeJS.Signals): boolean;
}

/** Why the host ended it. */
export type EndReason = "closed" | "output" | "disk";

/** What the host does at the end, once no process is left: read what was counted, remove the control groups. */
export interface Aftermath {
  readonly memoryKills: number | undefined;
  /** Whether the control groups are gone. */
  readonly isRemoved: boolean;
}

export interface HeldParts {
  readonly launched: Launched;
  readonly identity: SandboxIdentity;
  /** The command itself; process 1 when it is that. */
  readonly command: ProcessMark;
  readonly asPid1: boolean;
  /** Called before each SIGKILL: the watch may hold the sandbox still, and in version 1 nothing that is frozen dies. */
  readonly letGo: () => void;
  /** Called once, when no process is left. */
  readonly cleanUp: () => Promise<Aftermath>;
  /** Whether the control groups are gone now; for each end that is asked for after `cleanUp` could not remove them. */
  readonly removeGroups: () => Promise<boolean>;
}

export function holdSandbox({
  launched,
  identity,
  command,
  asPid1,
  letGo,
  cleanUp,
  removeGroups,
}: HeldParts): HeldSandbox {
  const { init, outer, name } = identity;
  let endReason: EndReason | undefined;
  let ending: Promise<void> | undefined;
  let isRemoved = true;

  const finish = async (): Promise<SandboxExit> => {
    const outerExit = await launched.exited;
    const endedFor = endReason; // an end that is asked for from now on comes too late to be the reason
    launched.word.destroy();
    launched.lifeline.destroy();
    launched.stdin.destroy();
    letGo();
    // The command's exit ends bubblewrap, whose end ends process 1, whose end ends everything: only that proves it.
    signalProcess(init, "SIGKILL");
    await becomesTrue(() => !isAlive(init), Number.POSITIVE_INFINITY);
    const [exitCode, aftermath] = await Promise.all([launched.status.exitCode, cleanUp()]);
    isRemoved = aftermath.isRemoved;
    return readExit({ outerExit, exitCode, memoryKills: aftermath.memoryKills, asPid1, endReason: endedFor });
  };
  const exited = finish();

  const confirm = async (timeoutMs: number): Promise<void> => {
    const isOver = await within(exited, timeoutMs);
    if (isOver) isRemoved ||= await removeGroups();
    if (isOver && isRemoved) return;
    const left = isOver
      ? "control groups could not be removed"
      : `processes are still there ${timeoutMs} ms after SIGKILL`;
    throw new ConfinementError("SANDBOX_NOT_ENDED", `the sandbox ${name} did not end: ${left}`);
  };
  const kill = async (): Promise<void> => {
    letGo();
    signalProcess(init, "SIGKILL");
    if (!(await within(exited, insideMs))) signalProcess(outer, "SIGKILL");
    await confirm(killMs);
  };
  return {
    exited,
    signal: (signal) => signalProcess(command, signal),
    end: async (reason, graceMs) => {
      endReason ??= reason;
      if (graceMs === 0) return kill();
      ending ??= (async () => {
        signalProcess(command, "SIGTERM");
        if (await within(exited, graceMs)) await confirm(0);
        else await kill();
      })().catch((error: unknown) => {
        ending = undefined; // what could not be confirmed now may be later
        throw error;
      });
      return ending;
    },
  };
}
