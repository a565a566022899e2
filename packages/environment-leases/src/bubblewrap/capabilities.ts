import type { EnforcementReport } from "@berth/process-confinement";
import type { RuntimeCapabilities } from "../capabilities.js";
import { LeaseError } from "../errors.js";
import type { EnvironmentLimits } from "../policy.js";

const probedLimits = [
  "memoryBytes",
  "processes",
  "cpus",
  "fileBytes",
  "openFiles",
] as const satisfies readonly (keyof EnvironmentLimits)[];

/**
 * What a sandbox of this machine can hold, as the probe showed.
 * @throws {LeaseError} `CAPABILITY_MISSING`, with cause and cure, when it can hold none.
 */
export function sandboxCapabilities(report: EnforcementReport): RuntimeCapabilities {
  if (!report.usable) throw unusable(report);
  const held = probedLimits.filter((limit) => report.limits.includes(limit));
  return {
    isolated: true,
    platforms: ["linux"],
    networkModes: ["none", "allowlist"],
    elevationModes: [false],
    packageModes: ["disabled", "environment"],
    exposureModes: [false, true],
    shell: true,
    limits: [...held, "workspaceBytes", "tmpBytes"],
    advice: { ...fixedAdvice, ...limitAdvice(report) },
  };
}

/** Of a provider that makes nothing: every profile is refused. */
export const noCapabilities: RuntimeCapabilities = {
  isolated: true,
  platforms: [],
  networkModes: [],
  elevationModes: [],
  packageModes: [],
  exposureModes: [],
  shell: false,
  limits: [],
  advice: { linux: "This provider only ends what earlier processes left: make one without endsOnly." },
};

const fixedAdvice = {
  internet: "A route to the Internet reaches private networks too: use network: allowlist and name the hosts.",
  elevation: "Nothing inside may become an administrator: bring what is needed in the template or as approved wheels.",
  system: "The system inside is read-only: use packages: environment.",
};

function limitAdvice({ findings, limits }: EnforcementReport): Readonly<Record<string, string>> {
  const missing = findings.filter(({ aspect }) =>
    probedLimits.some((limit) => limit === aspect && !limits.includes(limit)),
  );
  const told: readonly string[] = [...limits, ...findings.map(({ aspect }) => aspect)];
  const untried = probedLimits.filter((limit) => !told.includes(limit));
  return Object.fromEntries([
    ...missing.map(({ aspect, cause, cure, seen }) => [aspect, [cause ?? seen, cure].join("; ")]),
    ...untried.map((limit) => [
      limit,
      `${limit} was not tried: make the provider with a report of a probe that tries it.`,
    ]),
  ]);
}

function unusable({ findings }: EnforcementReport): LeaseError {
  const failed = findings.filter(({ aspect, holds }) => !holds && !probedLimits.some((limit) => limit === aspect));
  const causes = [...new Set(failed.map(({ cause, seen }) => cause ?? seen))];
  // What was not tried repeats why: one fault is told once.
  const told = causes.filter((one) => !causes.some((other) => other !== one && one.includes(other))).join("; ");
  const cures = new Set(failed.flatMap(({ cure }) => cure ?? []));
  return new LeaseError("CAPABILITY_MISSING", `sandboxes cannot be held on this machine: ${told}`, {
    cure: cures.size === 0 ? undefined : [...cures].join("; "),
  });
}
