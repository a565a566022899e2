import type { AttemptPlan } from "./attempt-list.js";
import type { EscapeControl, EscapeResult } from "./escapes.js";
import type { Run } from "./run-once.js";

/** What this machine itself could do, right before and right after the run in the wrap. */
export interface HostControls {
  /** Whether it read the secret; undefined where that is not the point. */
  readonly reads: boolean | undefined;
  /** Whether it reached the listener. */
  readonly reaches: boolean | undefined;
  /** Whether there was a descriptor to inherit. */
  readonly offered: boolean | undefined;
}

/** Everything that was seen of one attempt. */
export interface Seen {
  readonly confined: Run;
  readonly control: Run;
  readonly host: HostControls;
  readonly canarySha256: string;
}

/** An attempt counts as refused only when all that shows that the refusal means something held. Pure. */
export function judge(plan: AttemptPlan, seen: Seen): EscapeResult {
  const controls = controlsOf(plan, seen);
  const escaped = succeeded(plan, seen.confined, seen.canarySha256);
  const refused = controls.every(({ held }) => held);
  const outcome = escaped ? "escaped" : refused ? "refused" : "inconclusive";
  return { id: plan.id, title: plan.title, outcome, answer: seen.confined.answer, controls };
}

function succeeded(plan: AttemptPlan, { answer, effect }: Run, canarySha256: string): boolean {
  if (effect) return true;
  if (plan.onlyEffect || answer.outcome !== "succeeded") return false;
  return plan.reads === undefined || answer.sha256 === canarySha256;
}

function controlsOf(plan: AttemptPlan, { confined, control, host, canarySha256 }: Seen): readonly EscapeControl[] {
  const { fault, answer, effect } = confined;
  const answered =
    answer.outcome === "refused" || answer.outcome === "succeeded" || (plan.mayEnd && answer.outcome === "ended");
  const own = confined.control;
  const controls: (EscapeControl | undefined)[] = [
    { name: "started", held: fault === undefined, seen: fault ?? "the attempt was started in the wrap" },
    { name: "own-write", held: own?.held === true, seen: ownWriteSeen(confined) },
    { name: "answered", held: answered === true, seen: `the attempt ${answer.outcome}${named(answer.name)}` },
    hostControl("host-reads", host.reads, "this machine reads the secret, before and after"),
    hostControl("host-reaches", host.reaches, "this machine reaches the listener, before and after"),
    hostControl("offered", host.offered, "a descriptor of the host was open and not close-on-exec"),
    host.reaches === undefined
      ? undefined
      : { name: "no-arrival", held: !effect, seen: effect ? "something arrived" : "nothing arrived" },
    withoutProtection(plan, control, canarySha256),
  ];
  return controls.filter((each) => each !== undefined);
}

function ownWriteSeen({ control }: Run): string {
  if (control === undefined) return "it did not say";
  return control.held
    ? "it wrote and read its own file"
    : `it could not write and read its own file${named(control.name)}`;
}

function hostControl(name: string, held: boolean | undefined, what: string): EscapeControl | undefined {
  if (held === undefined) return undefined;
  return { name, held, seen: held ? what : `not so: ${what}` };
}

function withoutProtection(plan: AttemptPlan, run: Run, canarySha256: string): EscapeControl {
  const held = succeeded(plan, run, canarySha256);
  const where = plan.control === "unwrapped" ? "unwrapped" : "with all capabilities in a user namespace";
  const answer = `${run.answer.outcome}${named(run.answer.name)}`;
  return { name: "without-protection", held, seen: run.fault ?? `${where}: ${held ? "succeeded" : answer}` };
}

function named(name: string | undefined): string {
  return name === undefined || name === "" ? "" : ` (${name})`;
}
