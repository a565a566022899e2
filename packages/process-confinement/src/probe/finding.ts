import type { EnforcementFinding } from "../enforcement.js";

/** Why something does not hold, and what to do. */
export interface Remedy {
  readonly cause: string;
  readonly cure: string;
}

export function holds(aspect: string, by: string, seen: string): EnforcementFinding {
  return { aspect, holds: true, by, seen, cause: undefined, cure: undefined };
}

export function fails(aspect: string, seen: string, { cause, cure }: Remedy): EnforcementFinding {
  return { aspect, holds: false, by: undefined, seen, cause, cure };
}

const notTried = "it was not tried";

/** Of what could not be tried nothing is known; that counts as not holding. */
export function untried(aspect: string, remedy: Remedy): EnforcementFinding {
  return fails(aspect, notTried, remedy);
}

export function wasTried({ seen }: EnforcementFinding): boolean {
  return seen !== notTried;
}

/** It was set up without an error, and the attempt succeeded all the same. */
export const setUpInVain: Remedy = {
  cause: "bubblewrap set it up without an error, and it does not hold",
  cure: "run nothing untrusted here; compare the versions of bubblewrap and of the kernel with the README's",
};
