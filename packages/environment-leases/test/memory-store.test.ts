import { describe, it } from "vitest";
import { leaseStoreContract } from "../src/contract.js";
import { createMemoryLeaseStore } from "../src/index.js";

describe("the store in memory", () => {
  for (const { name, run } of leaseStoreContract(() => ({ store: createMemoryLeaseStore() }))) it(name, run);
});
