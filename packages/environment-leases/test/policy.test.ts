import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLeaseError, LeaseError, readPolicy, readProfile } from "../src/index.js";

/** Fields at fault; empty when it is read. */
function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!isLeaseError(error)) throw error;
    return error.faults.map(({ field }) => field);
  }
}

describe("a policy", () => {
  it("denies everything that it does not name", () => {
    expect(readPolicy({})).toEqual({
      network: "none",
      allowedHosts: [],
      elevation: false,
      packages: "disabled",
      exposeResources: false,
      exposedPorts: [],
      commandTimeoutMs: 300_000,
      limits: { workspaceBytes: 268_435_456, tmpBytes: 67_108_864 },
    });
  });

  it("keeps what it names, frozen", () => {
    const policy = {
      network: "allowlist",
      allowedHosts: ["pypi.org", "example.org:8443", "*.example.org", "xn--bcher-kva.example"],
      elevation: true,
      packages: "system",
      exposeResources: true,
      exposedPorts: [1, 65_535],
      commandTimeoutMs: 86_400_000,
      limits: {
        memoryBytes: 2 ** 24,
        processes: 2,
        cpus: 0.5,
        fileBytes: 0,
        openFiles: 16,
        workspaceBytes: 2 ** 20,
        tmpBytes: 2 ** 16,
      },
    };
    const terms = readPolicy(policy);
    expect(terms).toEqual(policy);
    for (const part of [terms, terms.allowedHosts, terms.exposedPorts, terms.limits]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it.each([
    { policy: null, fields: [""] },
    { policy: { netwrok: "none" }, fields: ["netwrok"] },
    { policy: { network: "all" }, fields: ["network"] },
    { policy: { network: "allowlist" }, fields: ["allowedHosts"] },
    { policy: { allowedHosts: ["a.example"] }, fields: ["allowedHosts"] },
    { policy: { network: "internet", allowedHosts: ["a.example"] }, fields: ["allowedHosts"] },
    { policy: { network: "allowlist", allowedHosts: Array(257).fill("a.example") }, fields: ["allowedHosts"] },
    { policy: { network: "allowlist", allowedHosts: "a.example" }, fields: ["allowedHosts", "allowedHosts"] },
    { policy: { network: "allowlist", allowedHosts: ["a.example", "a.example"] }, fields: ["allowedHosts[1]"] },
    { policy: { elevation: 1 }, fields: ["elevation"] },
    { policy: { packages: "all" }, fields: ["packages"] },
    { policy: { exposeResources: true }, fields: ["exposedPorts"] },
    { policy: { exposedPorts: [80] }, fields: ["exposedPorts"] },
    {
      policy: { exposeResources: true, exposedPorts: [0, 80, 80, 65_536, 1.5, "80"] },
      fields: [0, 2, 3, 4, 5].map((at) => `exposedPorts[${at}]`),
    },
    {
      policy: { exposeResources: true, exposedPorts: Array.from({ length: 65 }, (_, at) => at + 1) },
      fields: ["exposedPorts"],
    },
    ...[true, Number.NaN, Number.POSITIVE_INFINITY, 0, -1, 86_400_001, 1.5, "1"].map((commandTimeoutMs) => ({
      policy: { commandTimeoutMs },
      fields: ["commandTimeoutMs"],
    })),
    { policy: { limits: { memory: 1 } }, fields: ["limits.memory"] },
    {
      policy: {
        limits: {
          memoryBytes: 2 ** 24 - 1,
          processes: 1,
          cpus: 0,
          fileBytes: -1,
          openFiles: 15,
          workspaceBytes: 1,
          tmpBytes: 1,
        },
      },
      fields: ["memoryBytes", "processes", "cpus", "fileBytes", "openFiles", "workspaceBytes", "tmpBytes"].map(
        (name) => `limits.${name}`,
      ),
    },
  ])("$policy is refused, with $fields named", ({ policy, fields }) => {
    expect(faultsOf(() => readPolicy(policy))).toEqual(fields);
  });

  it("tells every fault with the value and what it has to be", () => {
    try {
      readPolicy({ commandTimeoutMs: 0, packages: "all" });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(LeaseError);
      expect(error).toMatchObject({
        code: "POLICY_INVALID",
        message:
          'the policy cannot be used: packages has to be one of disabled, environment, system, was "all"; ' +
          "commandTimeoutMs has to be a whole number from 1 to 86400000, was 0",
      });
    }
  });

  it.each([
    "",
    " ",
    "Example.org",
    "http://a.example",
    "a.example/x",
    "a b",
    "a..b",
    ".a",
    "a.",
    "-a.example",
    "a-.example",
    "1.2.3.4",
    "1.2.3.4:80",
    "127.1",
    "0x7f.1",
    "[::1]",
    "::1",
    "a.example:",
    "a.example:0",
    "a.example:65536",
    "a.example:080",
    "a.example:80:80",
    "*",
    "*.",
    "*.org",
    "*.example.org:80",
    "a.*.org",
    "a\0.example",
    "bücher.example",
    `${"a".repeat(64)}.example`,
    `${"a.".repeat(127)}example`,
    "user@a.example",
    "a_b.example",
  ])("%j is no host", (host) => {
    const fields = faultsOf(() => readPolicy({ network: "allowlist", allowedHosts: ["a.example", host] }));
    expect(fields).toEqual(["allowedHosts[1]"]);
  });

  it("is read or refused with named faults, whatever it is", () => {
    fc.assert(
      fc.property(
        fc.object({ key: fc.constantFrom("network", "allowedHosts", "limits", "cpus", "x", "__proto__") }),
        (given) => {
          const fields = faultsOf(() => readPolicy(given));
          expect(fields.every((field) => typeof field === "string")).toBe(true);
        },
      ),
    );
  });
});

describe("a profile", () => {
  const least = { provider: "bubblewrap", template: "python3" };

  it("has a policy that denies everything, and no shell", () => {
    expect(readProfile("python", least)).toEqual({
      name: "python",
      ...least,
      platform: "linux",
      policy: readPolicy({}),
      shell: false,
      mounts: [],
      env: {},
    });
  });

  it("keeps what it names", () => {
    const mounts = [
      { source: "/srv/data", target: "/data" },
      { source: "/srv/out", target: "/out", writable: true, maxBytes: 2 ** 20 },
    ];
    const profile = { ...least, platform: "windows", shell: true, mounts, env: { LANG: "C.UTF-8", EMPTY: "" } };
    expect(readProfile("python", profile)).toMatchObject(profile);
  });

  it.each([
    { profile: undefined, fields: [""] },
    { profile: {}, fields: ["provider", "template"] },
    {
      profile: { ...least, provider: "a b", template: "", platform: "x\0" },
      fields: ["provider", "template", "platform"],
    },
    { profile: { ...least, template: "x".repeat(1_025) }, fields: ["template"] },
    { profile: { ...least, shell: "yes", command: "sh" }, fields: ["command", "shell"] },
    {
      profile: { ...least, policy: { network: 1, limits: { cpus: "2" } } },
      fields: ["policy.network", "policy.limits.cpus"],
    },
    { profile: { ...least, env: { "A B": "x", OK: 1, NUL: "\0" } }, fields: ["env.A B", "env.OK", "env.NUL"] },
    { profile: { ...least, mounts: [{}] }, fields: ["mounts[0].source", "mounts[0].target"] },
    { profile: { ...least, mounts: [{ source: "a", target: "b" }] }, fields: ["mounts[0].source", "mounts[0].target"] },
    {
      profile: { ...least, mounts: [{ source: "/a", target: "/b", maxBytes: 2 ** 20 }] },
      fields: ["mounts[0].maxBytes"],
    },
    ...["/", "/workspace", "/workspace/in", "/a/../b", "/a//b", "/a/", "/."].map((target) => ({
      profile: { ...least, mounts: [{ source: "/a", target }] },
      fields: ["mounts[0].target"],
    })),
    {
      profile: {
        ...least,
        mounts: [
          { source: "/a", target: "/b" },
          { source: "/c", target: "/b/d" },
        ],
      },
      fields: ["mounts[1].target"],
    },
    { profile: { ...least, mounts: Array(17).fill({ source: "/a", target: "/b" }) }, fields: ["mounts"] },
  ])("$profile is refused, with $fields named", ({ profile, fields }) => {
    expect(faultsOf(() => readProfile("python", profile))).toEqual(fields);
  });

  it("shows no value of an environment variable", () => {
    try {
      readProfile("python", { ...least, env: { TOKEN: "secret\0" } });
      expect.unreachable();
    } catch (error) {
      expect(JSON.stringify(error) + String(error)).not.toContain("secret");
    }
  });
});
