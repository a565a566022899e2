import { describe, expect, it } from "vitest";
import { codeOf, createLeased, text } from "./leased.js";

const python = { profile: "python" } as const;

describe("what may be asked for", () => {
  it.each([
    { options: { owner: "", profile: "python" }, code: "OPTION_INVALID" },
    { options: { owner: "x".repeat(201), profile: "python" }, code: "OPTION_INVALID" },
    { options: { owner: "a\0", profile: "python" }, code: "OPTION_INVALID" },
    { options: { owner: "ann", profile: "python", idleMs: 999 }, code: "OPTION_INVALID" },
    { options: { owner: "ann", profile: "python", labels: { a: "x".repeat(5_000) } }, code: "OPTION_INVALID" },
    { options: { owner: "ann", profile: "python", labels: { a: "☃".repeat(1_400) } }, code: "OPTION_INVALID" },
    { options: { owner: "ann", profile: "python", tll: 5 }, code: "OPTION_INVALID" },
    { options: { owner: "ann", profile: "nothing" }, code: "PROFILE_UNKNOWN" },
    { options: { owner: "ann", profile: "toString" }, code: "PROFILE_UNKNOWN" },
    { options: { owner: "ann", profile: "elsewhere" }, code: "PROVIDER_UNKNOWN" },
    { options: { owner: "ann", profile: "windows" }, code: "CAPABILITY_MISSING" },
  ])("$options is refused with $code, and nothing is made", async ({ options, code }) => {
    const profiles = {
      python: { provider: "memory", template: "x" },
      elsewhere: { provider: "elsewhere", template: "x" },
      windows: { provider: "memory", template: "x", platform: "windows" },
    };
    const { leases, store, world } = createLeased({ profiles });
    expect(await codeOf(leases.acquire(options))).toBe(code);
    expect([await store.list(), world.workers]).toEqual([[], []]);
  });

  it("is told beforehand: which profiles can be leased, and why others cannot", () => {
    const profiles = {
      python: { provider: "memory", template: "x" },
      elsewhere: { provider: "elsewhere", template: "x" },
      windows: { provider: "memory", template: "x", platform: "windows" },
    };
    const advice = { windows: "Use a VM provider." };
    const { leases } = createLeased({ profiles, memory: { capabilities: { advice } } });
    expect(leases.profiles).toEqual([
      { profile: "python", provider: "memory", isolated: true, refusal: undefined },
      {
        profile: "elsewhere",
        provider: "elsewhere",
        isolated: false,
        refusal: { message: "no provider elsewhere is configured", cure: expect.stringContaining("memory") },
      },
      {
        profile: "windows",
        provider: "memory",
        isolated: true,
        refusal: { message: expect.stringContaining("no windows guests"), cure: "Use a VM provider." },
      },
    ]);
  });

  it("may differ by owner where profiles are a function", async () => {
    const { leases, store } = createLeased({
      profiles: (name) =>
        name.startsWith("own-") ? { provider: "memory", template: "x", env: { OWNER: name.slice(4) } } : undefined,
      memory: { programs: { show: ({ env, stdout }) => Number(!stdout.write(env["OWNER"])) } },
    });
    const lease = await leases.acquire({ owner: "ann", profile: "own-ann" });
    expect(text((await lease.run(["show"])).stdout)).toBe("ann");
    expect(await codeOf(leases.acquire({ owner: "ann", profile: "other" }))).toBe("PROFILE_UNKNOWN");
    expect((await store.list()).map(({ profile }) => profile)).toEqual(["own-ann"]);
  });

  it.each([
    { options: { limits: { maxTotal: 0 } }, code: "OPTION_INVALID" },
    { options: { limits: { maxTotl: 1 } }, code: "OPTION_INVALID" },
    { options: { limits: { defaultTtlMs: 60_000, maxLifetimeMs: 10_000 } }, code: "OPTION_INVALID" },
    { options: { host: "" }, code: "OPTION_INVALID" },
    { options: { profiles: { x: { provider: "memory" } } }, code: "PROFILE_INVALID" },
  ])("by a host: $options is refused with $code", async ({ options, code }) => {
    // By way of JSON, since the compiler would refuse some of them before.
    expect(await codeOf(Promise.resolve(JSON.stringify(options)).then((text) => createLeased(JSON.parse(text))))).toBe(
      code,
    );
  });

  it("needs an explicit word for a provider that isolates nothing, and says so of its leases", async () => {
    const memory = { capabilities: { isolated: false } };
    const refused = createLeased({ memory });
    expect(await codeOf(refused.leases.acquire({ owner: "ann", ...python }))).toBe("CAPABILITY_MISSING");
    const { leases, events } = createLeased({ memory, allowUnconfined: true });
    const lease = await leases.acquire({ owner: "ann", ...python });
    expect(lease.isolated).toBe(false);
    expect(leases.profiles[0]).toMatchObject({ isolated: false, refusal: undefined });
    expect(events.map((event) => "isolated" in event && event.isolated)).toEqual([false, false]);
  });
});
