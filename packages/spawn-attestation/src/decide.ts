import type { Guard, SpawnDescription } from "./description.js";
import type { AttestationError, AttestationErrorCode } from "./errors.js";
import type { Measurement } from "./measurement.js";

/** What the operator allows. */
export interface SpawnPolicy {
  /** Start what is not pinned, as `spawn-unmeasured`. A pinned digest that differs is refused all the same. */
  readonly allowUnmeasuredSpawn: boolean;
  /** Start what would be refused, as `spawn-unmeasured`, with the reason on record. Default false. */
  readonly observe?: boolean | undefined;
  /** How to say `allowUnmeasuredSpawn` in advice. Default `attestation.allowUnmeasuredSpawn`. */
  readonly keyName?: string | undefined;
}

/** The answer, flat enough for an audit record. */
export interface Decision {
  readonly verdict: "spawn" | "refuse";
  readonly evidence: "spawn-measured" | "spawn-unmeasured";
  /** Why it is refused; with `verdict: "spawn"` why it is unmeasured. */
  readonly reason?: AttestationErrorCode | undefined;
  /** For a person: what happened, with the values. */
  readonly message: string;
  readonly advice?: string | undefined;
  /** The pinned digest that was not met. */
  readonly expected?: string | undefined;
  readonly measured?: string | undefined;
  readonly target?: string | undefined;
  readonly targetInArgv?: boolean | undefined;
  readonly coverage?: "file" | "tree" | undefined;
  readonly leavesOut?: readonly string[] | undefined;
  readonly guard: Guard;
  readonly interpreter?: string | undefined;
  readonly interpreterKind?: "binary" | "shim" | undefined;
  /** The operating system's own code, when that was the reason. */
  readonly osCode?: string | undefined;
  /** True: it would have been refused, and `policy.observe` let it through. */
  readonly observed: boolean;
  /** When it was made. A refusal after `decide` follows a recorded `spawn` decision. */
  readonly stage: "decide" | "before-exec" | "after-exec" | "after-initialize";
}

/** Measurement, pins and policy to a decision. Pure. */
export function decide(
  _measured: Measurement | AttestationError,
  _description: SpawnDescription,
  _policy: SpawnPolicy,
): Decision {
  throw new Error("not built yet");
}
