import type { RuntimeCapabilities, UnsupportedCombination } from "./capabilities.js";
import { type FieldFault, LeaseError } from "./errors.js";
import type { EnvironmentLimits } from "./policy.js";
import type { ProfileTerms } from "./profile.js";
import { defaultTmpBytes, defaultWorkspaceBytes, limitNames } from "./reading/read-policy.js";

/** How strictly a provider is asked. */
export interface RequireOptions {
  /** Accepts a provider that isolates nothing. Default false. */
  readonly allowUnconfined?: boolean | undefined;
}

/**
 * Passes only when the provider holds everything that the profile grants and everything that it denies.
 * @throws {LeaseError} `CAPABILITY_MISSING`; `faults` names each thing that is missing, `cure` has the provider's advice.
 */
export function requireCapabilities(
  capabilities: RuntimeCapabilities,
  profile: ProfileTerms,
  options: RequireOptions = {},
): void {
  const missing = findMissing(capabilities, profile, options);
  if (missing.length === 0) return;
  const told = missing.map(({ field, fault }) => `${field}: ${fault}`).join("; ");
  const advice = missing.flatMap(({ key }) => capabilities.advice?.[key] ?? []);
  throw new LeaseError("CAPABILITY_MISSING", `the provider ${profile.provider} cannot hold ${profile.name}: ${told}`, {
    faults: missing.map(({ field, fault }) => ({ field, fault })),
    cure: advice.length === 0 ? undefined : [...new Set(advice)].join(" "),
  });
}

interface Missing extends FieldFault {
  /** Of the provider's advice. */
  readonly key: string;
}

function findMissing(
  capabilities: RuntimeCapabilities,
  profile: ProfileTerms,
  { allowUnconfined = false }: RequireOptions,
): readonly Missing[] {
  const { policy } = profile;
  const missing: Missing[] = [];
  const need = (holds: boolean, field: string, fault: string, key: string): void => {
    if (!holds) missing.push({ field, fault, key });
  };
  need(capabilities.isolated || allowUnconfined, "isolated", "it does not isolate", "isolated");
  need(
    capabilities.platforms.includes(profile.platform),
    "platform",
    `no ${profile.platform} guests`,
    profile.platform,
  );
  need(capabilities.networkModes.includes(policy.network), "policy.network", `no ${policy.network}`, policy.network);
  need(
    capabilities.packageModes.includes(policy.packages),
    "policy.packages",
    `no ${policy.packages}`,
    policy.packages,
  );
  for (const [name, wanted, modes] of [
    ["elevation", policy.elevation, capabilities.elevationModes],
    ["exposeResources", policy.exposeResources, capabilities.exposureModes],
  ] as const) {
    const fault = wanted ? "it cannot be granted" : "it cannot be denied";
    need(modes.includes(wanted), `policy.${name}`, fault, wanted ? name : `no-${name}`);
  }
  need(!profile.shell || capabilities.shell, "shell", "no terminal", "shell");
  for (const limit of limitsOf(profile, capabilities.isolated)) {
    need(capabilities.limits.includes(limit), `policy.limits.${limit}`, "it cannot be held here", limit);
  }
  for (const combination of capabilities.unsupported ?? []) {
    if (matches(combination, profile)) missing.push({ field: "policy", fault: combination.reason, key: "combination" });
  }
  return missing;
}

/** Who isolates holds the two default sizes too; from one that isolates nothing only what was written is asked. */
function limitsOf({ policy: { limits } }: ProfileTerms, isIsolated: boolean): readonly (keyof EnvironmentLimits)[] {
  const presets: EnvironmentLimits = { workspaceBytes: defaultWorkspaceBytes, tmpBytes: defaultTmpBytes };
  return limitNames.filter((name) => limits[name] !== undefined && (isIsolated || limits[name] !== presets[name]));
}

function matches({ reason: _, ...named }: UnsupportedCombination, { policy, shell }: ProfileTerms): boolean {
  const { network, elevation, packages, exposeResources } = policy;
  const seen: Readonly<Record<string, unknown>> = { network, elevation, packages, exposeResources, shell };
  return Object.entries(named).every(([name, value]) => value === undefined || seen[name] === value);
}
