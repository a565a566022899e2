import type { PluginExit, PluginProcess } from "../confine/plugin-process.js";
import type { ProcessPluginError, ProcessPluginErrorCode } from "../errors.js";
import { pluginFault } from "../pipe/plugin-fault.js";
import type { AveHalf } from "./ave-half.js";
import { causeOfEnding, causeOfExit, type EndCause, exitWords } from "./end-cause.js";
import type { InstanceEnd, InstanceState } from "./instance.js";
import { type InstanceAction, type InstanceEvent, isFinal, mayAsk, nextState } from "./instance-state.js";
import type { InstanceTerms } from "./instance-terms.js";
import { createGate, within } from "./waits.js";

/** The life of one process from its spawn to its confirmed end. */
export interface InstanceLife {
  readonly state: InstanceState;
  /** @throws {ProcessPluginError} why it has failed meanwhile. A plain Error for an event that cannot follow: a bug. */
  advance(event: InstanceEvent): void;
  /** Why this may not be sent now. */
  refusal(action: InstanceAction): ProcessPluginError | undefined;
  /** Ends every process of it now; the first cause counts. Resolves when it has ended. */
  fail(cause: EndCause): Promise<InstanceEnd>;
  /** The plugin ended its output, or takes no more input. */
  onSilence(words: string): void;
  readonly ended: Promise<InstanceEnd>;
  close(): Promise<void>;
  kill(): Promise<void>;
}

/** What a life is made of. */
export interface LifeOptions {
  readonly process: PluginProcess;
  readonly terms: InstanceTerms;
  readonly ave: Pick<AveHalf, "stop" | "destroy">;
  /** Fails the calls under way and closes the clients; nothing is read any more. */
  readonly endPipe: (cause: ProcessPluginError) => void;
  /** What it wrote before it ended is read without any brake. */
  readonly readOn: () => void;
  /** Resolves when all that it wrote was read. */
  readonly outputEnded: Promise<unknown>;
  /** Called before `ended` resolves; what it rejects with is told by `close`. */
  readonly onEnded: (end: InstanceEnd) => Promise<void>;
}

/** How long pipes may stay open after everything that held them got SIGKILL. */
const drainMs = 1_000;

/** One state machine over the events of a process, hence its length. */
export function createInstanceLife(options: LifeOptions): InstanceLife {
  const { process, terms, ave, endPipe, outputEnded } = options;
  const { timeouts, scheduler } = terms;
  const plugin = terms.name;
  const hurry = createGate();
  const gone = createGate<InstanceEnd>();
  let state: InstanceState = "spawned";
  let cause: EndCause | undefined;
  let exit: PluginExit | undefined;
  let isClosing = false;
  let unrecorded: unknown;

  const fault = (code: ProcessPluginErrorCode, words: string): ProcessPluginError => pluginFault(plugin, code, words);
  const advance = (event: InstanceEvent): void => {
    if (cause !== undefined && event !== "failed") throw cause.error;
    const next = nextState(state, event);
    if (next === undefined) throw new Error(`${event} cannot follow ${state}`);
    state = next;
  };
  const setCause = (first: EndCause): void => {
    cause ??= first;
    if (!isFinal(state)) advance("failed");
  };

  /** Ends whoever is left, and reads what was written until then. */
  let settling: Promise<boolean> | undefined;
  const settle = (): Promise<boolean> => (settling ??= endAll());
  const endAll = async (): Promise<boolean> => {
    const isConfirmed = await process.kill().then(
      () => true,
      () => false,
    );
    options.readOn();
    await within([outputEnded], drainMs, scheduler);
    return isConfirmed;
  };
  let finishing: Promise<void> | undefined;
  const finish = (): Promise<void> => (finishing ??= finishOnce());
  const finishOnce = async (): Promise<void> => {
    const confirmed = await settle();
    if (confirmed) exit = await process.exited;
    const { reason, message } = verdict();
    endPipe(cause?.error ?? fault("PLUGIN_EXITED", "has ended"));
    const end = { reason, message, code: exit?.code, signal: exit?.signal, confirmed };
    await options.onEnded(end).catch((error: unknown) => {
      unrecorded = error;
    });
    gone.open(end);
  };
  const verdict = (): Pick<InstanceEnd, "reason" | "message"> => {
    if (cause === undefined && state === "stopped") advance("destroyed");
    if (cause === undefined) return { reason: "destroyed", message: `plugin ${plugin} was stopped and has ended` };
    return { reason: cause.reason, message: cause.error.message };
  };
  const fail = (first: EndCause): Promise<InstanceEnd> => {
    if (finishing === undefined && cause === undefined) {
      setCause(first);
      endPipe(first.error);
    }
    hurry.open();
    void finish();
    return gone.passed;
  };
  const onExit = async (status: PluginExit): Promise<void> => {
    exit = status;
    await settle();
    // What it answered before it ended has been read: the rest has no answer.
    const error = fault("PLUGIN_EXITED", exitWords(status));
    endPipe(error);
    if (!isClosing) void fail({ reason: "crashed", error });
  };
  const onSilence = (words: string): void => {
    void within([process.exited, hurry.passed], timeouts.exitMs, scheduler).then((isOver) => {
      if (!isOver && !isClosing) void fail({ reason: "crashed", error: fault("PLUGIN_EXITED", words) });
    });
  };

  const stopAndDestroy = async (): Promise<void> => {
    advance("stopping");
    await ave.stop();
    advance("stopped");
    await ave.destroy();
  };
  const endInStages = async (): Promise<void> => {
    isClosing = true;
    try {
      await stopAndDestroy();
    } catch (error) {
      if (cause === undefined) setCause(causeOfEnding(error, exit, plugin));
    }
    process.endInput();
    const stageOver = (ms: number): Promise<boolean> => within([process.exited, hurry.passed], ms, scheduler);
    if (await stageOver(timeouts.exitMs)) {
      if (cause === undefined && exit === undefined) exit = await process.exited;
      if (cause === undefined && exit?.code !== 0) setCause(causeOfExit(exit, plugin));
    } else {
      setCause({ reason: "timeout", error: fault("PLUGIN_TIMEOUT", "did not exit when it was destroyed") });
      process.terminate();
      await stageOver(timeouts.terminateMs);
    }
    await finish();
  };
  const confirm = async (): Promise<void> => {
    const { confirmed } = await gone.passed;
    if (!confirmed) await process.kill();
    if (unrecorded !== undefined) throw unrecorded;
  };
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    if (state === "running") closing ??= endInStages();
    else if (closing === undefined)
      void fail({ reason: "killed", error: fault("PLUGIN_EXITED", "was ended by its host") });
    await closing;
    await confirm();
  };
  const kill = async (): Promise<void> => {
    await fail({ reason: "killed", error: fault("PLUGIN_EXITED", "was ended by its host") });
    await confirm();
  };

  void process.exited.then(onExit);
  return {
    get state() {
      return state;
    },
    advance,
    refusal: (action) => {
      if (mayAsk(state, action)) return undefined;
      return fault("PLUGIN_NOT_RUNNING", state === "failed" || state === "destroyed" ? "has ended" : `is ${state}`);
    },
    fail,
    onSilence,
    ended: gone.passed,
    close,
    kill,
  };
}
