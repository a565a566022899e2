import type { DisposableEnvironment } from "../environment.js";
import type { ContractCheck } from "./check.js";
import { withOpened } from "./check.js";
import { gateChecks } from "./provider-gates.js";
import { lifeChecks } from "./provider-life.js";
import { processChecks } from "./provider-processes.js";
import { runChecks } from "./provider-runs.js";
import { type ContractPrograms, longMs, type ProviderSubject, profileOf } from "./provider-subject.js";

/** A provider under check, and what a check makes with it. */
export interface ProviderTrial extends ProviderSubject {
  /** A name that nobody had. */
  name(): string;
  /** An environment that denies everything, and its programs. */
  create(): Promise<{
    readonly worker: string;
    readonly environment: DisposableEnvironment;
    readonly programs: ContractPrograms;
  }>;
}

export type ProviderCheck = (trial: ProviderTrial) => Promise<void>;

/**
 * What every ManagedProvider keeps. `open` gives a provider of its own each time, on the system's clock; it is closed by
 * the checks, and `dispose` is called afterwards.
 */
export function providerContract(open: () => Promise<ProviderSubject> | ProviderSubject): readonly ContractCheck[] {
  const checks = { ...lifeChecks, ...runChecks, ...processChecks, ...gateChecks };
  return Object.entries(checks).map(([name, check]) => ({
    name,
    run: () =>
      withOpened(
        async () => closing(await open()),
        (subject) => check(trialOf(subject)),
      ),
  }));
}

function closing(subject: ProviderSubject): ProviderSubject {
  return {
    ...subject,
    async dispose() {
      try {
        await subject.provider.close();
      } finally {
        await subject.dispose?.();
      }
    },
  };
}

function trialOf(subject: ProviderSubject): ProviderTrial {
  let count = 0;
  const name = (): string => {
    count += 1;
    const own = process.pid.toString(16).padStart(8, "0") + Math.floor(performance.now() * 1_000).toString(16);
    return `mcp-${(own + count.toString(16).padStart(4, "0")).padStart(24, "0").slice(-24)}`;
  };
  return {
    ...subject,
    name,
    async create() {
      const worker = name();
      const environment = await subject.provider.create(worker, profileOf(subject), { deadlineMs: longMs });
      return { worker, environment, programs: subject.programs(environment) };
    },
  };
}
