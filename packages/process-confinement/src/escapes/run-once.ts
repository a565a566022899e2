import type { AttemptPlan } from "./attempt-list.js";
import { watchEffect } from "./effects.js";
import { boundOf, type EscapeTerms } from "./escape-terms.js";
import type { EscapeAnswer, EscapeCommand, EscapeProcess } from "./escapes.js";
import { createLines } from "./lines.js";
import { endMarked } from "./marked-processes.js";
import { hear, type Said } from "./read-answer.js";
import type { Side, Stage } from "./stage.js";

/** One attempt, run once. */
export interface Run {
  /** Why it could not be started; undefined when it was. */
  readonly fault: string | undefined;
  readonly control: Said["control"];
  readonly answer: EscapeAnswer;
  readonly effect: boolean;
}

/** Starts the command of an attempt on a side. */
export type Start = (command: EscapeCommand, signal: AbortSignal) => Promise<EscapeProcess>;

const heldOutputMs = 1_000;
const nothing = { errno: undefined, name: undefined, bytes: undefined, sha256: undefined };

/** Never leaves anything behind: what the attempt started is ended, what it wrote is removed. */
export async function runOnce(
  plan: AttemptPlan,
  side: Side,
  start: Start,
  stage: Stage,
  terms: EscapeTerms,
): Promise<Run> {
  stage.reset(side);
  const effect = watchEffect(plan, stage, side, terms.limits);
  const bound = boundOf(terms);
  try {
    const started = await tryStart(start, commandOf(plan, side, stage, terms), bound);
    terms.signal?.throwIfAborted();
    if (typeof started === "string") return notStarted(started);
    const run = await watch(started, bound);
    terms.signal?.throwIfAborted();
    const claimed = run.answer.outcome === "succeeded";
    return { ...run, fault: undefined, effect: await effect({ ...run, claimed }) };
  } finally {
    endMarked(stage.token, stage.victim.place["pid"]);
  }
}

function commandOf(plan: AttemptPlan, side: Side, stage: Stage, terms: EscapeTerms): EscapeCommand {
  return {
    name: `escape-${plan.id}-${stage.token.slice(0, 8)}-${side}`,
    file: terms.python,
    args: ["-I", "-B", stage.program, plan.id, stage.context(side)],
    env: { PATH: "/usr/bin:/bin", LANG: "C.UTF-8" },
    readOnly: [stage.program, stage.tree(side)],
    workspace: stage.workspace(side),
    limits: terms.limits,
  };
}

async function tryStart(start: Start, command: EscapeCommand, bound: AbortSignal): Promise<EscapeProcess | string> {
  try {
    return await start(command, bound);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function notStarted(fault: string): Run {
  return { fault, control: undefined, answer: { ...nothing, outcome: "silent" }, effect: false };
}

interface Watched {
  readonly control: Said["control"];
  readonly answer: EscapeAnswer;
  readonly outputEnded: boolean;
  readonly outputBytes: number;
}

async function watch(process: EscapeProcess, bound: AbortSignal): Promise<Watched> {
  let said: Said = { control: undefined, answer: undefined };
  const lines = createLines((message) => {
    said = hear(said, message);
  });
  const ended = new Promise<void>((resolve) => {
    process.stdout.on("data", lines.push).on("error", () => resolve());
    process.stdout.once("end", () => resolve()).once("close", () => resolve());
  });
  process.stderr?.on("error", () => {}).resume(); // read, so that a flood is not held up; it says nothing that counts
  process.stdin?.on("error", () => {}).end();
  const exit = await Promise.race([process.exited, aborted(bound)]);
  await process.kill();
  const outputEnded = await Promise.race([ended.then(() => true), after(heldOutputMs)]);
  process.stdout.destroy();
  const answer = said.answer ?? { ...nothing, ...endOf(exit) };
  return { control: said.control, answer, outputEnded, outputBytes: lines.bytes() };
}

type Exit = Awaited<EscapeProcess["exited"]> | undefined;

/** Ended by a signal, for a limit, or with the status that shells make of a signal: not by itself. */
function endOf(exit: Exit): Pick<EscapeAnswer, "outcome" | "name"> {
  if (exit === undefined) return { outcome: "silent", name: "no end in time" };
  const byLimit = exit.reason !== undefined && exit.reason !== "exited" && exit.reason !== "signalled";
  if (byLimit) return { outcome: "ended", name: exit.reason };
  if (exit.signal) return { outcome: "ended", name: exit.signal };
  if ((exit.code ?? 0) > 128) return { outcome: "ended", name: `status ${exit.code}` };
  return { outcome: "silent", name: `status ${exit.code}` };
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

function after(delayMs: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), delayMs).unref());
}
