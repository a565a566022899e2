import { describe, expect, it } from "vitest";
import {
  codesOf,
  itExports,
  itNamesTests,
  itPacks,
  itShowsQuickstart,
  packageOf,
} from "../../../fixtures/package-promises.js";
import { partTest } from "../../../fixtures/parts.js";

const tested = packageOf(import.meta.url);

describe("the built package", () => {
  itExports(tested, {
    ".": [
      "LeaseError",
      "createBubblewrapProvider",
      "createEnvironmentPipeline",
      "createLeases",
      "createMemoryLeaseStore",
      "createUnconfinedProvider",
      "isLeaseError",
      "readPolicy",
      "readProfile",
      "requireCapabilities",
      "systemScheduler",
    ],
    "./contract": ["leaseStoreContract", "providerContract", "pythonPrograms"],
    "./memory": ["createMemoryProvider", "createMemoryWorld"],
    "./sqlite": ["openSqliteLeaseStore", "readSqliteLeases"],
  });
  itPacks(tested);

  it("imports no schema library when it is loaded", () => {
    const bundles = ["index.js", "contract.js", "memory.js", "sqlite.js"].map((name) => tested.text(`dist/${name}`));
    for (const bundle of bundles) expect(bundle).not.toMatch(/from\s*["']zod["']/);
  });
});

describe("the README", () => {
  itShowsQuickstart(tested, "0 42\nreleased\n", partTest("bubblewrap", "python3"));
  itNamesTests(tested, 15);

  it("names every code, every end, and every limit", () => {
    const readme = tested.text("README.md");
    const words = [
      ...codesOf(tested, "LeaseErrorCode"),
      ...codesOf(tested, "LeaseEndReason", "src/lease.ts"),
      ...codesOf(tested, "LeaseState", "src/lease.ts"),
    ];
    expect(words.length).toBeGreaterThan(45);
    for (const word of words) expect(readme.includes(word), word).toBe(true);
    const contract = tested.text("src/leases-contract.ts");
    const limits = contract.slice(contract.indexOf("export interface LeaseLimits"));
    const names = [...limits.slice(0, limits.indexOf("\n}")).matchAll(/readonly (\w+)\?/g)].map(
      ([, name]) => name ?? "",
    );
    expect(names.length).toBe(12);
    for (const name of names) expect(readme.includes(`\`${name}\``), name).toBe(true);
  });
});
