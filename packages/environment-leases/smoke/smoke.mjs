// The contract in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createEnvironmentPipeline,
  createLeases,
  createMemoryLeaseStore,
  isLeaseError,
  readPolicy,
} from "@berth/environment-leases";
import { leaseStoreContract, providerContract } from "@berth/environment-leases/contract";
import { createMemoryProvider, createMemoryWorld } from "@berth/environment-leases/memory";

const profiles = { python: { provider: "memory", template: "python3" } };

for (const { name, run } of leaseStoreContract(() => ({ store: createMemoryLeaseStore() }), { rounds: 3 })) {
  test(`the store in memory: ${name}`, run);
}

const upPrograms = {
  print({ args, stdout, stderr }) {
    stdout.write(args[0]);
    stderr.write(args[1]);
    return 0;
  },
  up({ args, stdout, interrupted }) {
    stdout.write("up");
    return new Promise((resolve) => interrupted.addEventListener("abort", () => args[0] === "wait" && resolve(130)));
  },
};
const programs = {
  print: (out, err) => ["print", out, err],
  exit: (status) => ["exit", String(status)],
  copy: () => ["copy"],
  flood: (bytes) => ["flood", String(bytes)],
  wait: () => ["up", "wait"],
  resist: () => ["up", "resist"],
};
const openSubject = () => {
  const world = createMemoryWorld();
  const provider = createMemoryProvider({ world, programs: upPrograms });
  return { provider, template: "python3", programs: () => programs };
};
for (const { name, run } of providerContract(openSubject)) test(`the provider in memory: ${name}`, run);

test("a lease is acquired, used, renewed, released, and another process recovers what was left", async () => {
  const store = createMemoryLeaseStore();
  const provider = createMemoryProvider();
  const options = { store, providers: [provider], profiles };
  const leases = createLeases(options);
  const lease = await leases.acquire({ owner: "ann", profile: "python" });
  assert.equal((await lease.run(["exit", "3"])).exitCode, 3);
  await lease.renew({ ttlMs: 1_000 });
  await lease.release();
  assert.equal((await leases.get(lease.id, "ann")).state, "released");
  await assert.rejects(leases.get(lease.id, "bob"), (error) => isLeaseError(error) && error.code === "LEASE_NOT_FOUND");
  const warm = await leases.warm({ profile: "python" });
  await warm.activate({ owner: "bob" });
  const later = createLeases(options);
  assert.equal((await later.recover()).released, 1);
  assert.deepEqual(provider.world.workers, []);
  await Promise.all([leases.close(), later.close()]);
});

test("a pipeline runs one command, and policies are read with every fault named", async () => {
  const pipeline = createEnvironmentPipeline({ profiles, providers: [createMemoryProvider()] });
  const { exit_code, stdout } = await pipeline.execute({ payload: { profile: "python", argv: ["echo", "hello"] } });
  assert.deepEqual([exit_code, stdout], [0, "hello\n"]);
  assert.throws(() => readPolicy({ network: "all", cpus: 1 }), { code: "POLICY_INVALID" });
});
