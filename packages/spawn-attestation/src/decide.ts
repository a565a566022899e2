import type { FileDigest, Guard, InterpreterPin, SpawnDescription } from "./description.js";
import { type AttestationError, type AttestationErrorCode, isAttestationError } from "./errors.js";
import { printable } from "./measure/byte-path.js";
import type { Interpreter, Measurement } from "./measurement.js";

/** What the operator allows. */
export interface SpawnPolicy {
  /** Start what is not pinned, as `spawn-unmeasured`. A pinned digest that differs is refused all the same. */
  readonly allowUnmeasuredSpawn: boolean;
  /** Start what would be refused, as `spawn-unmeasured`, with the reason on record. Default false. */
  readonly observe?: boolean | undefined;
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
  /** The pinned digest (of the interpreter, when `reason` is about it). */
  readonly expected?: string | undefined;
  readonly measured?: string | undefined;
  readonly target?: string | undefined;
  readonly targetInArgv?: boolean | undefined;
  readonly coverage?: "file" | "tree" | undefined;
  readonly leavesOut?: readonly string[] | undefined;
  readonly guard: Guard;
  /** Path of the real interpreter. */
  readonly interpreter?: string | undefined;
  readonly interpreterKind?: "program" | "shim" | undefined;
  /** The operating system's own code, when that was the reason. */
  readonly osCode?: string | undefined;
  /** True: it would have been refused, and `policy.observe` let it through. */
  readonly observed: boolean;
  /** When it was made. A refusal at a later stage than `decide` follows a recorded `spawn` decision. */
  readonly stage: DecisionStage;
}

/** The moments at which a launch is judged. */
export type DecisionStage = "decide" | "before-exec" | "after-exec" | "after-initialize";

/** A refusal in the making. */
interface Fault {
  readonly reason: AttestationErrorCode;
  readonly message: string;
  readonly advice?: string | undefined;
  readonly expected?: string | undefined;
  readonly measured?: string | undefined;
  readonly osCode?: string | undefined;
}

/** The configuration key that every refusal of something unpinned names. */
const allowKey = "attestation.allowUnmeasuredSpawn";

/**
 * Measurement, pins and policy to a decision. Pure.
 *
 * Pinned and equal: `spawn-measured`. Pinned and different, another interpreter, or not measurable: refused. Not pinned:
 * refused, unless `allowUnmeasuredSpawn`, then `spawn-unmeasured`. `observe` turns a refusal into `spawn-unmeasured`
 * wherever it is known what would be executed.
 */
export function decide(
  measured: Measurement | AttestationError,
  description: Pick<SpawnDescription, "digest" | "interpreter" | "guard">,
  policy: SpawnPolicy,
): Decision {
  const guard = description.guard ?? "recheck";
  if (isAttestationError(measured)) {
    return refuse(faultOf(measured), { guard }, policy.observe === true && measured.launch !== undefined);
  }
  const facts = factsOf(measured, guard);
  const pin = description.interpreter;
  const difference = pin === undefined ? undefined : interpreterDifference(measured.interpreter, pin, true);
  const otherInterpreter =
    pin === undefined || difference === undefined ? undefined : interpreterFault(difference, pin, measured.interpreter);
  const fault = pinFault(measured, description) ?? otherInterpreter;
  if (fault !== undefined) return refuse(fault, facts, policy.observe === true);
  if (description.digest !== undefined) {
    const message = `${printable(measured.target.path)} is what was pinned`;
    return { verdict: "spawn", evidence: "spawn-measured", message, expected: description.digest, ...facts, ...open };
  }
  const unpinned = unpinnedFault(measured);
  if (!policy.allowUnmeasuredSpawn) return refuse(unpinned, facts, policy.observe === true);
  const message = `${unpinned.message}; ${allowKey} lets it run UNMEASURED`;
  return { verdict: "spawn", evidence: "spawn-unmeasured", reason: "NOT_PINNED", message, ...facts, ...open };
}

/**
 * The same with a shim that was not asked yet, to spare asking one that is refused anyway: asking runs it. Its own file
 * and the programs on the way are compared, the interpreter behind it is not.
 */
export function decideBeforeAsking(
  measured: Measurement,
  description: SpawnDescription,
  policy: SpawnPolicy,
): Decision {
  const shim = measured.interpreter;
  const pin = description.interpreter;
  if (shim?.kind !== "shim" || pin === undefined) return decide(measured, description, policy);
  const rest = decide(measured, { ...description, interpreter: undefined }, policy);
  const own: FileDigest = { path: shim.path, digest: shim.digest };
  const difference = interpreterDifference({ ...shim, parts: [...shim.parts, own] }, pin, false);
  if (rest.verdict === "refuse" || difference === undefined) return rest;
  const facts = factsOf(measured, rest.guard);
  return refuse(interpreterFault(difference, pin, shim), facts, policy.observe === true);
}

/** A refusal at a later stage: something changed after a decision to spawn. */
export function decideChanged(
  before: Decision,
  error: AttestationError,
  stage: DecisionStage,
  policy: SpawnPolicy,
): Decision {
  const { advice, osCode } = error;
  const observed = policy.observe === true;
  return {
    ...before,
    verdict: observed ? "spawn" : "refuse",
    evidence: "spawn-unmeasured",
    reason: error.code,
    message: error.message,
    advice,
    osCode,
    observed,
    stage,
  };
}

const open = { observed: false, stage: "decide" } as const;

type Facts = Pick<
  Decision,
  "measured" | "target" | "targetInArgv" | "coverage" | "leavesOut" | "guard" | "interpreter" | "interpreterKind"
>;

function factsOf({ digest, target, coverage, interpreter }: Measurement, guard: Guard): Facts {
  return {
    measured: digest,
    target: target.path,
    targetInArgv: target.inArgv,
    coverage: coverage.scope,
    leavesOut: coverage.leavesOut,
    guard,
    interpreter: interpreter?.realPath,
    interpreterKind: interpreter?.kind,
  };
}

function refuse(fault: Fault, facts: Facts, observed: boolean): Decision {
  const verdict = observed ? "spawn" : "refuse";
  return {
    ...facts,
    ...fault,
    measured: fault.measured ?? facts.measured,
    verdict,
    evidence: "spawn-unmeasured",
    observed,
    stage: "decide",
  };
}

function faultOf({ code, message, advice, osCode }: AttestationError): Fault {
  return { reason: code, message, advice, osCode };
}

function pinFault(measured: Measurement, { digest }: Pick<SpawnDescription, "digest">): Fault | undefined {
  if (digest === undefined || digest === measured.digest) return undefined;
  const { root, scope } = measured.coverage;
  const otherForm = digest.split(":")[0] !== measured.digest.split(":")[0];
  const form = otherForm
    ? `; the pin is of another kind than what is measured now, the ${scope === "tree" ? "folder" : "file"}`
    : "";
  return {
    reason: "DIGEST_MISMATCH",
    message: `${printable(root)} is not what was pinned: measured ${measured.digest}, pinned ${digest}${form}`,
    advice:
      "look at what changed and pin it again, or set spawn.digest; data that the server writes there goes into measureIgnore",
    expected: digest,
  };
}

function interpreterFault(difference: string, pin: InterpreterPin, found: Interpreter | undefined): Fault {
  return {
    reason: "INTERPRETER_CHANGED",
    message: `the interpreter is not the one that was pinned: ${difference}`,
    advice: "pin it again if it was updated on purpose, or set spawn.interpreter",
    expected: pin.digest,
    measured: found?.digest,
  };
}

/** What differs between an interpreter and its pin; of a shim that was not asked, what is known of it. */
function interpreterDifference(
  found: Interpreter | undefined,
  pin: InterpreterPin,
  isAsked: boolean,
): string | undefined {
  if (found === undefined) return "the program needs none";
  if (found.path !== pin.path) return `found ${printable(found.path)}, pinned ${printable(pin.path)}`;
  if (isAsked && found.digest !== pin.digest) {
    return `${printable(found.realPath)} has ${found.digest}, pinned ${pin.digest}`;
  }
  return partsDifference(found.parts, pin.parts, isAsked);
}

function partsDifference(
  found: readonly FileDigest[],
  pinned: readonly FileDigest[] | undefined,
  isAsked: boolean,
): string | undefined {
  if (pinned === undefined) return undefined;
  const known = new Map(pinned.map(({ path, digest }) => [path, digest]));
  const other = found.find(({ path, digest }) => known.get(path) !== digest);
  if (other !== undefined)
    return `${printable(other.path)} has ${other.digest}, pinned ${known.get(other.path) ?? "nothing"}`;
  const present = new Set(found.map(({ path }) => path));
  const gone = isAsked ? pinned.find(({ path }) => !present.has(path)) : undefined;
  return gone === undefined ? undefined : `${printable(gone.path)} no longer belongs to it`;
}

function unpinnedFault(measured: Measurement): Fault {
  return {
    reason: "NOT_PINNED",
    message: `${printable(measured.launch.argv0)} is not pinned: ${printable(measured.coverage.root)} has ${measured.digest}`,
    advice: `pin it (spawn.digest), or let unpinned servers run with ${allowKey}: true`,
  };
}
