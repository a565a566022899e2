import { type ContractCheck, withOpened } from "./check.js";
import { lifeChecks } from "./store-life.js";
import { checkRandomWrites } from "./store-model.js";
import { readChecks } from "./store-reads.js";
import type { StoreCheck, StoreSubject } from "./store-subject.js";
import { writeChecks } from "./store-writes.js";

/** How a store is checked. */
export interface StoreContractOptions {
  /** Where the random writes begin. Default 1. */
  readonly seed?: number | undefined;
  /** Sequences of random writes, each in a store of its own: default 20. */
  readonly rounds?: number | undefined;
}

/** What every LeaseStore keeps. `open` gives a fresh, empty store each time. */
export function leaseStoreContract(
  open: () => Promise<StoreSubject> | StoreSubject,
  { seed = 1, rounds = 20 }: StoreContractOptions = {},
): readonly ContractCheck[] {
  const checks: Readonly<Record<string, StoreCheck>> = { ...readChecks, ...writeChecks, ...lifeChecks };
  return [
    ...Object.entries(checks).map(([name, check]) => ({ name, run: () => withOpened(open, check) })),
    {
      name: "does what the model does under random writes",
      async run() {
        for (let round = 0; round < rounds; round += 1) {
          await withOpened(open, (subject) => checkRandomWrites(subject, seed + round));
        }
      },
    },
  ];
}
