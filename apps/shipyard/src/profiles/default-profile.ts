import type { EnvironmentLimits, EnvironmentProfile } from "@berth/environment-leases";

const mebibyte = 1_048_576;
const defaultLimits: EnvironmentLimits = { memoryBytes: 1_024 * mebibyte, processes: 256 };

/** What sessions run in unless `profiles` says more. */
export function defaultProfile(provider: "bubblewrap" | "unconfined"): EnvironmentProfile {
  if (provider === "bubblewrap") {
    return { provider, template: "python3", policy: { limits: defaultLimits } };
  }
  // Each member says what is so without a sandbox: denying it would be a promise that nothing holds.
  return { provider, template: "python3", policy: { network: "internet", elevation: true } };
}

/**
 * A profile that is silent about limits has the default ones: who writes a network must not lose the bound of memory by it.
 * Without a sandbox there are none to have.
 */
export function withDefaultLimits(profile: EnvironmentProfile): EnvironmentProfile {
  if (profile.provider !== "bubblewrap") return profile;
  return { ...profile, policy: { ...profile.policy, limits: profile.policy?.limits ?? defaultLimits } };
}
