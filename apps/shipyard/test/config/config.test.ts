import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/config/config-read.js";
import { defaultProfile } from "../../src/profiles/default-profile.js";
import { scratchFolder, shipyard, writeConfig } from "../shipyard.js";

const problemsOf = (lines: readonly string[]): readonly string[] => {
  const reading = readConfig(lines.join("\n"));
  return reading.ok ? [] : reading.problems.map(({ line, message }) => `${line} ${message}`);
};

const usualLimits = { memoryBytes: 1_073_741_824, processes: 256 };

describe("shipyard.yaml", () => {
  it("may be empty: a sandbox for each session, bounded, without network", () => {
    const reading = readConfig("");
    if (!reading.ok) throw new Error("refused");
    expect(reading.value).toMatchObject({
      provider: "bubblewrap",
      profile: "python",
      profiles: {
        python: { provider: "bubblewrap", policy: { limits: { memoryBytes: 1_073_741_824, processes: 256 } } },
      },
      recovery: "destroy",
      allowedHosts: [],
    });
    expect(reading.value.auth).toBeUndefined();
  });

  it("says unconfined where it is to be so, and then denies nothing that is not denied", () => {
    const reading = readConfig("provider: unconfined");
    expect(reading.ok && reading.value.profiles["python"]).toEqual(defaultProfile("unconfined"));
  });

  it.each([
    { name: "a policy without limits keeps the default ones", policy: "{ network: none }", limits: usualLimits },
    { name: "limits replace the default ones together", policy: "{ limits: { cpus: 1 } }", limits: { cpus: 1 } },
    { name: "no limits are none", policy: "{ limits: {} }", limits: {} },
  ])("$name", ({ policy, limits }) => {
    const reading = readConfig(`profiles: { python: { policy: ${policy} } }`);
    expect(reading.ok && reading.value.profiles["python"]?.policy?.limits).toEqual(limits);
  });

  it("may be written whole", () => {
    const lines = [
      "provider: bubblewrap",
      "profile: science",
      "profiles:",
      "  science:",
      "    template: /opt/python/bin/python3",
      "    env: { LANG: C.UTF-8 }",
      "    mounts: [{ source: /srv/data, target: /data }]",
      "    policy:",
      "      network: allowlist",
      "      allowedHosts: [pypi.org, 'files.pythonhosted.org:443']",
      "      limits: { memoryBytes: 536870912, processes: 64, cpus: 0.5, workspaceBytes: 67108864 }",
      "leases: { maxPerOwner: 3, maxTotal: 20 }",
      "sessions: { maxSessions: 2, maxTotalSessions: 8, warmWorkers: 0, ttlMs: 3600000, idleMs: 60000 }",
      "environments: { maxOutputBytes: 65536 }",
      "uploads: { maxBytes: 10485760 }",
      "http: { maxBodyBytes: 65536, maxConnections: 8 }",
      "auth: { tokenFile: /etc/berth/tokens.jsonl, operators: [root] }",
      "allowedHosts: [sandbox.example]",
      "audit: { durability: each }",
      "log: { level: debug }",
      "recovery: attach",
      "shutdownMs: 5000",
    ];
    expect(problemsOf(lines)).toEqual([]);
  });

  it.each([
    {
      name: "an unknown key",
      lines: ["log: { level: info }", "providr: x"],
      problems: ["2 providr is an unknown key"],
    },
    {
      name: "an unknown key inside",
      lines: ["profiles:", "  python:", "    policy:", "      netwrk: none"],
      problems: ["4 profiles.python.policy.netwrk is an unknown key"],
    },
    {
      name: "a provider of its own in a profile",
      lines: ["profiles:", "  p:", "    provider: unconfined"],
      problems: ["3 profiles.p.provider is an unknown key"],
    },
    { name: "no YAML", lines: ["log: {"], problems: [expect.stringMatching(/^[12] /)] },
    {
      name: "a key twice",
      lines: ["profile: python", "profile: python"],
      problems: [expect.stringMatching(/^2 .*unique/)],
    },
    { name: "another document", lines: ["- 1"], problems: [expect.stringMatching(/^1 the document/)] },
    {
      name: "a profile that is not there",
      lines: ["profile: science"],
      problems: ["1 profile: there is no profile science"],
    },
    {
      name: "a profile that is none of an object's own",
      lines: ["profile: constructor"],
      problems: ["1 profile: there is no profile constructor"],
    },
    {
      name: "what a policy means: hosts without allow list, and a URL for a host",
      lines: [
        "profiles:",
        "  a:",
        "    policy:",
        "      allowedHosts: [pypi.org]",
        "  b:",
        "    policy:",
        "      network: allowlist",
        "      allowedHosts:",
        "        - pypi.org",
        "        - http://pypi.org",
      ],
      problems: [
        expect.stringMatching(/^4 profiles\.a\.policy\.allowedHosts/),
        expect.stringMatching(/^10 profiles\.b\.policy\.allowedHosts\[1\]/),
      ],
    },
    {
      name: "a number out of its range",
      lines: ["shutdownMs: -1", "http:", "  maxConnections: 0"],
      problems: [expect.stringMatching(/^1 shutdownMs/), expect.stringMatching(/^3 http\.maxConnections/)],
    },
    {
      name: "hosts that are none, and a default over its ceiling",
      lines: [
        "allowedHosts:",
        "  - a.example",
        "  - http://a.example",
        "sessions: { defaultCallMs: 9, maxCallMs: 8 }",
        "leases: { maxLifetimeMs: 1000 }",
      ],
      problems: [
        "3 allowedHosts: http://a.example is no host name",
        "4 sessions.defaultCallMs is over sessions.maxCallMs",
        "5 leases.defaultTtlMs is over leases.maxLifetimeMs",
      ],
    },
    {
      name: "a relative token file",
      lines: ["auth: { tokenFile: tokens }"],
      problems: [expect.stringMatching(/^1 auth\.tokenFile/)],
    },
  ])("is refused, with the line, for $name", ({ lines, problems }) => {
    expect(problemsOf(lines)).toEqual(problems);
  });

  it("names all problems of a file on stderr, and the command ends with 2", async () => {
    const folder = scratchFolder();
    const config = writeConfig(folder, ["profile: python", "log: { levl: info }", "recovery: never"]);
    const { code, stdout, stderr } = await shipyard(["serve", "--config", config, "--state", `${folder}/s`]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("the configuration has 2 problems");
    expect(stderr).toContain(`${config}:2  log.levl is an unknown key`);
    expect(stderr).toContain(`${config}:3  recovery`);
  });

  it("is refused when it cannot be read, is too large or is a pipe", async () => {
    const folder = scratchFolder();
    const state = ["--state", `${folder}/s`];
    const absent = await shipyard(["serve", "--config", `${folder}/none.yaml`, ...state]);
    expect(absent).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be read") });
    const large = writeConfig(folder, ["#".repeat(1_100_000)]);
    const refused = await shipyard(["serve", "--config", large, ...state]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("more than 1048576 bytes") });
    // Its opening would wait for whoever writes.
    execFileSync("mkfifo", [`${folder}/pipe`]);
    const pipe = await shipyard(["serve", "--config", `${folder}/pipe`, ...state]);
    expect(pipe).toMatchObject({ code: 2, stderr: expect.stringContaining("has to be a regular file") });
  });
});
