import type { EventStore } from "../../http/legacy/event-store.js";
import { type ContractCheck, type ContractLimits, inRounds, readTerms, withOpened } from "../check.js";
import { createRandom } from "../random.js";
import { createEventTrial } from "./calls.js";
import { keeping } from "./keeping.js";
import { stepByStep } from "./random-steps.js";
import { room } from "./room.js";

/** An empty store of events for one check. */
export interface OpenedEventStore {
  readonly store: EventStore;
  /** Called once, when the check has ended, however it did. */
  close?(): Promise<void> | void;
}

/** How `eventStoreContract` checks. */
export interface EventStoreContractOptions extends ContractLimits {
  /** An empty store that keeps fewer than 256 events with messages of 1,000 bytes in one session. Without it the checks of what is forgotten are left out. */
  readonly openSmall?: (() => Promise<OpenedEventStore> | OpenedEventStore) | undefined;
}

/**
 * What every `EventStore` promises, as checks for any test runner. Each opens a store of its own, which has to be empty, and closes it. A store may forget
 * what it wants, so this wants more of `open` than the server does: that it still has what came within a check, at most 128 events and 128 KiB.
 * @throws {RangeError} for a limit out of its range, {TypeError} for an option that does not exist.
 */
export function eventStoreContract(
  open: () => Promise<OpenedEventStore> | OpenedEventStore,
  options: EventStoreContractOptions = {},
): readonly ContractCheck[] {
  const { openSmall, ...limits } = options;
  const terms = readTerms(open, { openSmall }, limits);
  const checks = (some: typeof keeping, opener: typeof open): ContractCheck[] =>
    some.map(({ name, run }) => ({
      name,
      run: () =>
        withOpened({ name, open: opener, callMs: terms.callMs }, ({ store }, trace) =>
          run(createEventTrial(store, trace)),
        ),
    }));
  return [
    ...checks(keeping, open),
    inRounds("whatever is done in whatever order, each stream is a list", terms, open, ({ store }, trace, seed) =>
      stepByStep(createEventTrial(store, trace), createRandom(seed)),
    ),
    ...(openSmall === undefined ? [] : checks(room, openSmall)),
  ];
}
