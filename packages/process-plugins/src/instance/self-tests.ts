import { type ConfinementLimits, limitNames, selfTest } from "@berth/process-confinement";
import { orAborted } from "./waits.js";

/** Self-tests that passed, or are under way, by the limits that they tried. */
export interface SelfTests {
  /** Resolves when a sandbox with these limits was seen to hold. Rejects as `selfTest` does. */
  passed(limits: ConfinementLimits, signal: AbortSignal | undefined): Promise<void>;
}

/** What is tried depends on which limits are named, not on their values. One that failed is tried again, since an operator may have mended it. */
export function createSelfTests(run: typeof selfTest = selfTest): SelfTests {
  const tests = new Map<string, Promise<unknown>>();
  return {
    passed: async (limits, signal) => {
      const names = namesOf(limits);
      const key = names.join();
      // Not with the caller's signal: others wait for the same one.
      const test = tests.get(key) ?? run({ limits: names });
      tests.set(key, test);
      test.catch(() => tests.delete(key));
      await orAborted(test, signal);
    },
  };
}

/** What this machine holds does not change from one instance to the next: one test for the process of the host, as the kernel is one. */
export const processSelfTests: SelfTests = createSelfTests();

function namesOf(limits: ConfinementLimits): readonly (keyof ConfinementLimits)[] {
  return limitNames.filter((name) => limits[name] !== undefined);
}
