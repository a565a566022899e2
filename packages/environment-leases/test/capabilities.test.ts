import { describe, expect, it } from "vitest";
import {
  type EnvironmentProfile,
  isLeaseError,
  type LeaseError,
  type RuntimeCapabilities,
  readProfile,
  requireCapabilities,
} from "../src/index.js";

const full: RuntimeCapabilities = {
  isolated: true,
  platforms: ["linux"],
  networkModes: ["none", "allowlist"],
  elevationModes: [false],
  packageModes: ["disabled", "environment"],
  exposureModes: [false, true],
  shell: true,
  limits: ["memoryBytes", "workspaceBytes", "tmpBytes"],
  unsupported: [
    { network: "allowlist", shell: true, reason: "a terminal cannot use the proxy" },
    { exposeResources: true, packages: "environment", reason: "not both" },
  ],
  advice: {
    internet: "Use allowlist.",
    elevation: "Prepare the template instead.",
    memoryBytes: "Make a cgroup writable.",
    isolated: "Install bubblewrap.",
    "no-elevation": "Use another login.",
  },
};
const least: EnvironmentProfile = { provider: "p", template: "t" };

function refusalOf(
  profile: EnvironmentProfile,
  capabilities: Partial<RuntimeCapabilities> = {},
  options = {},
): LeaseError | undefined {
  try {
    requireCapabilities({ ...full, ...capabilities }, readProfile("x", profile), options);
    return undefined;
  } catch (error) {
    if (isLeaseError(error)) return error;
    throw error;
  }
}

describe("a provider is asked whether it holds a profile", () => {
  it("passes where it holds all that is granted and all that is denied", () => {
    expect(refusalOf(least)).toBeUndefined();
    const allowlist = { network: "allowlist", allowedHosts: ["a.example"] } as const;
    expect(refusalOf({ ...least, policy: { ...allowlist, packages: "environment" } })).toBeUndefined();
    expect(refusalOf({ ...least, shell: true, policy: { exposeResources: true, exposedPorts: [80] } })).toBeUndefined();
  });

  it.each<{
    profile: EnvironmentProfile;
    capabilities?: Partial<RuntimeCapabilities>;
    fields: string[];
    cure?: string;
  }>([
    {
      profile: least,
      capabilities: { isolated: false, limits: [] },
      fields: ["isolated"],
      cure: "Install bubblewrap.",
    },
    { profile: { ...least, platform: "windows" }, fields: ["platform"] },
    { profile: { ...least, policy: { network: "internet" } }, fields: ["policy.network"], cure: "Use allowlist." },
    { profile: { ...least, policy: { packages: "system" } }, fields: ["policy.packages"] },
    {
      profile: { ...least, policy: { elevation: true } },
      fields: ["policy.elevation"],
      cure: "Prepare the template instead.",
    },
    {
      profile: least,
      capabilities: { elevationModes: [true] },
      fields: ["policy.elevation"],
      cure: "Use another login.",
    },
    { profile: least, capabilities: { exposureModes: [true] }, fields: ["policy.exposeResources"] },
    { profile: { ...least, shell: true }, capabilities: { shell: false }, fields: ["shell"] },
    { profile: { ...least, policy: { limits: { processes: 9 } } }, fields: ["policy.limits.processes"] },
    {
      profile: least,
      capabilities: { limits: [] },
      fields: ["policy.limits.workspaceBytes", "policy.limits.tmpBytes"],
    },
    {
      profile: { ...least, shell: true, policy: { network: "allowlist", allowedHosts: ["a.example"] } },
      fields: ["policy"],
    },
    {
      profile: { ...least, policy: { network: "internet", elevation: true } },
      fields: ["policy.network", "policy.elevation"],
      cure: "Use allowlist. Prepare the template instead.",
    },
  ])("$profile is refused for $fields", ({ profile, capabilities, fields, cure }) => {
    const refusal = refusalOf(profile, capabilities);
    expect(refusal).toMatchObject({ code: "CAPABILITY_MISSING", cure });
    expect(refusal?.faults.map(({ field }) => field)).toEqual(fields);
  });

  it("accepts one that isolates nothing only when it is told to, and then without the default sizes", () => {
    const unconfined = { isolated: false, limits: [] };
    expect(refusalOf(least, unconfined, { allowUnconfined: true })).toBeUndefined();
    const sized = { ...least, policy: { limits: { workspaceBytes: 2 ** 20 } } };
    const refusal = refusalOf(sized, unconfined, { allowUnconfined: true });
    expect(refusal?.faults.map(({ field }) => field)).toEqual(["policy.limits.workspaceBytes"]);
  });
});
