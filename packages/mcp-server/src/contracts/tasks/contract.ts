import type { TaskStore } from "../../tasks/store.js";
import { type ContractCheck, type ContractLimits, inRounds, readTerms, withOpened } from "../check.js";
import { createRandom } from "../random.js";
import type { Trace } from "../trace.js";
import { createTaskCalls } from "./calls.js";
import { keeping } from "./keeping.js";
import { listing } from "./listing.js";
import { atOnce, type RandomTrial, stepByStep } from "./random-steps.js";
import { type ReopeningTrial, reopening } from "./reopening.js";
import { replacing } from "./replacing.js";
import { room } from "./room.js";
import type { TaskTrial } from "./task-check.js";

/** An empty store of tasks for one check. */
export interface OpenedTaskStore {
  readonly store: TaskStore;
  /** Called once, when the check has ended, however it did. */
  close?(): Promise<void> | void;
}

/** How `taskStoreContract` checks. */
export interface TaskStoreContractOptions<Opened extends OpenedTaskStore> extends ContractLimits {
  /**
   * A store over the same tasks, as after its process was killed: it is not told before, has no call under way, and is not used again. May be called several
   * times. Without it the checks of durable stores are left out. A store that locks its files lets go of them here, without writing.
   */
  readonly reopen?: ((opened: Opened) => Promise<TaskStore> | TaskStore) | undefined;
  /** An empty store with room for at least 16 KiB and less than 1 MiB of tasks. Without it the checks of `TASK_STORE_FULL` are left out. */
  readonly openSmall?: (() => Promise<Opened> | Opened) | undefined;
}

/**
 * What every `TaskStore` promises, as checks for any test runner. Each opens a store of its own, which has to be empty, and closes it.
 * @throws {RangeError} for a limit out of its range, {TypeError} for an option that does not exist.
 */
export function taskStoreContract<Opened extends OpenedTaskStore>(
  open: () => Promise<Opened> | Opened,
  options: TaskStoreContractOptions<Opened> = {},
): readonly ContractCheck[] {
  const { reopen, openSmall, ...limits } = options;
  const terms = readTerms(open, { reopen, openSmall }, limits);
  const check = <T>(
    { name, run }: { readonly name: string; run(trial: T): Promise<void> },
    trialOf: (opened: Opened, trace: Trace) => T,
    opener = open,
  ): ContractCheck => ({
    name,
    run: () =>
      withOpened({ name, open: opener, ...terms, seed: undefined }, (opened, trace) => run(trialOf(opened, trace))),
  });
  const plain = ({ store }: OpenedTaskStore, trace: Trace): TaskTrial => ({ trace, ...createTaskCalls(store, trace) });
  const random = (name: string, run: (trial: RandomTrial) => Promise<void>): ContractCheck =>
    inRounds(name, terms, open, (opened, trace, seed) => {
      const again = reopen === undefined ? undefined : reopeningTrial(opened, trace, reopen).reopen;
      return run({ ...plain(opened, trace), random: createRandom(seed), reopen: again });
    });
  return [
    ...[...keeping, ...replacing].map((one) => check(one, plain)),
    ...listing.map((one) => check(one, (opened, trace) => ({ store: opened.store, ...plain(opened, trace) }))),
    random("whatever is done in whatever order, it is a map with versions", stepByStep),
    random("calls at once for one task come out as if they had been made in some order", atOnce),
    ...(openSmall === undefined ? [] : room.map((one) => check(one, plain, openSmall))),
    ...(reopen === undefined
      ? []
      : reopening.map((one) => check(one, (opened, trace) => reopeningTrial(opened, trace, reopen)))),
  ];
}

function reopeningTrial<Opened extends OpenedTaskStore>(
  opened: Opened,
  trace: Trace,
  reopen: (opened: Opened) => Promise<TaskStore> | TaskStore,
): ReopeningTrial {
  const trialOf = (store: TaskStore): ReopeningTrial => ({
    trace,
    ...createTaskCalls(store, trace),
    reopen: async () => trialOf(await trace.open("reopen()", () => reopen(opened))),
  });
  return trialOf(opened.store);
}
