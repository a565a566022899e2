import type { EnforcementFinding } from "../enforcement.js";
import { isConfinementError } from "../errors.js";
import { fails } from "./finding.js";

/** Something to be tried, and what it will have found. */
export interface PlannedTrial {
  readonly aspects: readonly string[];
  readonly run: () => Promise<readonly EnforcementFinding[]>;
}

/**
 * Runs all at once and waits for the last, so that nothing goes on behind the caller's back. What goes wrong in one is a
 * finding about its aspects.
 */
export async function runTrials(
  trials: readonly PlannedTrial[],
  signal: AbortSignal | undefined,
): Promise<readonly EnforcementFinding[]> {
  const findings = await Promise.all(trials.map(runTrial));
  signal?.throwIfAborted();
  return findings.flat();
}

async function runTrial({ aspects, run }: PlannedTrial): Promise<readonly EnforcementFinding[]> {
  try {
    return await run();
  } catch (error) {
    return aspects.map((aspect) => wentWrong(aspect, error));
  }
}

function wentWrong(aspect: string, error: unknown): EnforcementFinding {
  if (!isConfinementError(error)) {
    const cause = error instanceof Error ? error.message : String(error);
    return fails(aspect, "its trial went wrong", { cause, cure: "try again; then see what else runs on this machine" });
  }
  return fails(aspect, `it was refused (${error.code})`, {
    cause: error.message,
    cure: error.cure ?? `see ${error.code} in the README`,
  });
}
