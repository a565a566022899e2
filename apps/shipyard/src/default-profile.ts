import type { EnvironmentProfile } from "@berth/environment-leases";

const mebibyte = 1_048_576;

/** What sessions run in unless `profiles` says more. */
export function defaultProfile(provider: "bubblewrap" | "unconfined"): EnvironmentProfile {
  if (provider === "bubblewrap") {
    return { provider, template: "python3", policy: { limits: { memoryBytes: 1_024 * mebibyte, processes: 256 } } };
  }
  // Each member says what is so without a sandbox: denying it would be a promise that nothing holds.
  return { provider, template: "python3", policy: { network: "internet", elevation: true } };
}
