import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createBubblewrapProvider, readProfile, requireCapabilities } from "../src/index.js";

function workersFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-report-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "w");
}

const held = { holds: true, by: "cgroup-v1", seen: "it was seen" } as const;
const missing = { holds: false, seen: "it went on", cause: "there is no controller", cure: "mount one" } as const;

it("a provider with a report holds what was seen to hold, and says what was not and what was not tried", async () => {
  const findings = [
    { aspect: "memoryBytes", ...held },
    { aspect: "cpus", ...missing },
  ];
  const report = { usable: true, bubblewrap: "0.8.0", limits: ["memoryBytes"] as const, findings };
  const provider = await createBubblewrapProvider({ folder: workersFolder(), report });
  onTestFinished(() => provider.close());
  const require = (limits: Readonly<Record<string, number>>): void =>
    requireCapabilities(
      provider.capabilities,
      readProfile("p", { provider: "bubblewrap", template: "python3", policy: { limits } }),
    );
  require({ memoryBytes: 2 ** 26 });
  const refusal = (cure: string) =>
    expect.objectContaining({ code: "CAPABILITY_MISSING", cure: expect.stringContaining(cure) });
  expect(() => require({ cpus: 1 })).toThrow(refusal("there is no controller; mount one"));
  expect(() => require({ processes: 8 })).toThrow(refusal("processes was not tried"));
});

it("a report of a machine that holds no sandbox refuses the provider, with its cure", async () => {
  const findings = [{ aspect: "user-namespace", ...missing }];
  const report = { usable: false, bubblewrap: "0.8.0", limits: [], findings };
  await expect(createBubblewrapProvider({ folder: workersFolder(), report })).rejects.toMatchObject({
    code: "CAPABILITY_MISSING",
    cure: "mount one",
  });
});

it("a provider that only ends needs nothing of the machine, ends what is left, and makes nothing", async () => {
  const findings = [{ aspect: "user-namespace", ...missing }];
  const report = { usable: false, bubblewrap: undefined, limits: [], findings };
  const folder = workersFolder();
  const provider = await createBubblewrapProvider({ folder, report, endsOnly: true });
  onTestFinished(() => provider.close());
  const [left, asked] = [`mcp-${"a".repeat(24)}`, `mcp-${"b".repeat(24)}`];
  mkdirSync(join(folder, left));
  expect(await provider.listWorkers()).toEqual([left]);
  await provider.destroy(left);
  expect([await provider.exists(left), await provider.listWorkers()]).toEqual(["no", []]);
  const profile = readProfile("p", { provider: "bubblewrap", template: "python3" });
  await expect(provider.create(asked, profile, { deadlineMs: 1_000 })).rejects.toMatchObject({
    code: "CAPABILITY_MISSING",
    cure: expect.stringContaining("endsOnly"),
  });
  expect(await provider.listWorkers()).toEqual([]);
});
