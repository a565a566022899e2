import { constants } from "node:os";
import type { SandboxExit } from "../sandbox.js";
import type { OuterExit } from "../start/launch.js";

/** What is known when everything has ended. */
export interface ExitFacts {
  readonly outerExit: OuterExit;
  /** As bubblewrap told; undefined when it was killed itself. */
  readonly exitCode: number | undefined;
  readonly memoryKills: number | undefined;
  readonly asPid1: boolean;
  /** Set when the host ended it. */
  readonly endReason: "closed" | "output" | "disk" | undefined;
}

/** How the command ended, and why. Pure. */
export function readExit(facts: ExitFacts): SandboxExit {
  // bubblewrap tells 128 and the number for a signal, as a shell does; a command may exit with the same number itself.
  const signal = facts.exitCode === undefined ? "SIGKILL" : signalOf(facts.exitCode - 128);
  const code = signal === undefined ? facts.exitCode : undefined;
  return { reason: reasonOf(facts, signal), code, signal, memoryKills: facts.memoryKills };
}

function reasonOf(facts: ExitFacts, signal: NodeJS.Signals | undefined): SandboxExit["reason"] {
  if (facts.endReason !== undefined) return facts.endReason;
  if (signal === "SIGKILL" && (facts.memoryKills ?? 0) > 0) return "memory";
  if (facts.exitCode === undefined || facts.outerExit.signal !== null) return "killed";
  // Nothing inside can kill process 1, so somebody outside did.
  if (signal === "SIGKILL" && facts.asPid1) return "killed";
  return signal === undefined ? "exited" : "signalled";
}

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

function signalOf(number: number): NodeJS.Signals | undefined {
  const name = signalNames.get(number);
  return isSignal(name) ? name : undefined;
}

function isSignal(name: string | undefined): name is NodeJS.Signals {
  return name !== undefined && name in constants.signals;
}
