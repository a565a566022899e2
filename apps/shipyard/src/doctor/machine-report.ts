import type { Check } from "@berth/command-line/doctor";

/** What was found on this machine, and when. */
export interface MachineFindings {
  readonly checks: readonly Check[];
  /** Wall clock milliseconds since 1970. */
  readonly at: number;
}

/** Findings that are kept for a while: looking starts sandboxes. */
export interface MachineReport {
  /** Rejects when looking fails; the next call looks again. */
  findings(): Promise<MachineFindings>;
  /** Waits for a look that is under way. Never rejects. */
  close(): Promise<void>;
}

/** How long findings count. */
const maxAgeMs = 600_000;

/** `look` is never under way twice. */
export function createMachineReport(look: () => Promise<readonly Check[]>, now: () => number): MachineReport {
  let known: MachineFindings | undefined;
  let looking: Promise<MachineFindings> | undefined;
  const start = async (): Promise<MachineFindings> => {
    try {
      known = { checks: await look(), at: now() };
      return known;
    } finally {
      looking = undefined;
    }
  };
  return {
    async findings() {
      if (known !== undefined && now() - known.at < maxAgeMs && now() >= known.at) return known;
      looking ??= start();
      return looking;
    },
    async close() {
      await looking?.catch(() => undefined); // told to who asked
    },
  };
}
