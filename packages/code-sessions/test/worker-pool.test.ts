import { LeaseError } from "@berth/environment-leases";
import { expect, it } from "vitest";
import type { SessionError } from "../src/index.js";
import { deferred, settled } from "./fakes/deferred.js";
import { createFakeLeases } from "./fakes/leases.js";
import { openFakeSet } from "./fakes/set.js";

const once = { code: "1" };

it("workers are up before they are needed, and replaced when they are used", async () => {
  await using set = openFakeSet();
  await settled();
  expect(set.sessions.counts()).toMatchObject({ warm: 2, warming: 0 });
  await set.sessions.executeOnce("ada", once);
  await settled();
  expect(set.sessions.counts()).toMatchObject({ warm: 2, warming: 0 });
  expect(set.parts.runs.map(({ worker }) => worker.number)).toEqual([1]);
  expect(set.fake.environments.map(({ state }) => state)).toEqual(["closed", "warm", "warm"]);
});

it("no worker is used by two owners, or twice", async () => {
  await using set = openFakeSet({ limits: { maxSessionless: 8 } });
  const owners = ["ada", "bob", "ada", "cleo", "bob", "ada"];
  await Promise.all(owners.map((owner) => set.sessions.executeOnce(owner, once)));
  const used = set.parts.opened.map(({ worker }) => worker.number);
  expect(new Set(used).size).toBe(owners.length);
  expect(set.fake.environments.filter(({ owner }) => owner !== undefined)).toHaveLength(owners.length);
});

it("a profile of one owner is warm only after its use, and never serves another", async () => {
  await using set = openFakeSet({ profile: (owner) => `python-${owner}`, expectedOwners: ["local"] });
  await settled();
  expect(set.fake.environments.map(({ profile }) => profile)).toEqual(["python-local", "python-local"]);
  await set.sessions.executeOnce("ada", once);
  await settled();
  const warm = set.fake.environments.filter(({ state }) => state === "warm").map(({ profile }) => profile);
  expect(warm).toEqual(["python-local", "python-local", "python-ada", "python-ada"]);
});

it("profiles that are not used lose their workers, those of expected owners do not", async () => {
  await using set = openFakeSet({ profile: (owner) => owner, expectedOwners: ["local"] });
  await set.sessions.executeOnce("ada", once);
  await settled();
  set.clock.advance(600_000);
  await settled();
  const warm = set.fake.environments.filter(({ state }) => state === "warm").map(({ profile }) => profile);
  expect(warm).toEqual(["local", "local"]);
});

it("only so many profiles have warm workers: the one used longest ago loses its own", async () => {
  await using set = openFakeSet({ profile: (owner) => owner, limits: { maxWarmProfiles: 2, warmWorkers: 1 } });
  for (const owner of ["ada", "bob", "ada", "cleo"]) await set.sessions.executeOnce(owner, once);
  await settled();
  const warm = set.fake.environments.filter(({ state }) => state === "warm").map(({ profile }) => profile);
  expect(warm.sort()).toEqual(["ada", "cleo"]);
});

it("starts that fail in the background are told, and tried again later and later", async () => {
  const fake = createFakeLeases();
  const down = () => new LeaseError("ENVIRONMENT_NOT_CREATED", "no room");
  fake.warmFaults.push(down(), down(), down());
  await using set = openFakeSet({ limits: { warmWorkers: 1 } }, fake);
  await settled();
  expect(set.faults).toHaveLength(1);
  set.clock.advance(249);
  await settled();
  expect(set.faults).toHaveLength(1);
  set.clock.advance(1);
  await settled();
  expect(set.faults).toHaveLength(2);
  set.clock.advance(499);
  await settled();
  expect(set.faults).toHaveLength(2);
  set.clock.advance(1);
  await settled();
  expect(set.faults).toHaveLength(3);
  set.clock.advance(1_000);
  await settled();
  expect(set.sessions.counts()).toMatchObject({ warm: 1 });
});

it("a worker that ends while it waits is given to nobody, and replaced", async () => {
  await using set = openFakeSet({ limits: { warmWorkers: 1 } });
  await settled();
  set.parts.workers[0]?.goes.resolve(undefined);
  await settled();
  expect(set.sessions.counts()).toMatchObject({ warm: 0 });
  expect(set.fake.environments[0]?.state).toBe("closed");
  set.clock.advance(250);
  await settled();
  expect(set.sessions.counts()).toMatchObject({ warm: 1 });
  await set.sessions.executeOnce("ada", once);
  expect(set.parts.runs[0]?.worker.number).toBe(2);
});

it("a restricted worker is given to who asks for one now, and never kept", async () => {
  const fake = createFakeLeases();
  fake.restriction = "its folder is full";
  await using set = openFakeSet({ limits: { warmWorkers: 1 } }, fake);
  await settled();
  expect(set.sessions.counts()).toMatchObject({ warm: 0, warming: 0 });
  for (const { state } of fake.environments) expect(state).toBe("closed");
  await set.sessions.executeOnce("ada", once);
  expect(fake.environments.map(({ owner }) => owner)).toEqual([undefined, "ada"]);
  await settled();
  // Asked for or not, no more of them are started than failed starts would be.
  expect(fake.environments).toHaveLength(2);
});

it("when nothing restricts them any more the next worker is an ordinary one, and others are kept warm again", async () => {
  const fake = createFakeLeases();
  fake.restriction = "its folder is full";
  await using set = openFakeSet({ limits: { warmWorkers: 1 } }, fake);
  await settled();
  fake.restriction = undefined;
  await set.sessions.executeOnce("ada", once);
  expect(fake.environments[1]).toMatchObject({ owner: "ada", restriction: undefined });
  await settled();
  expect(set.sessions.counts()).toMatchObject({ warm: 1 });
});

it("a worker whose start met a restriction before it was asked for is not given to who asks after that", async () => {
  const fake = createFakeLeases();
  await using set = openFakeSet({ limits: { warmWorkers: 1 } }, fake);
  await settled();
  const gate = deferred<void>();
  fake.hold = gate.promise;
  fake.restriction = "its folder is full";
  await set.sessions.executeOnce("ada", once);
  await settled();
  fake.restriction = undefined;
  const next = set.sessions.executeOnce("ada", once);
  gate.resolve();
  await next;
  expect(fake.environments[1]).toMatchObject({ owner: undefined, restriction: "its folder is full", state: "closed" });
  const owned = fake.environments.filter(({ owner }) => owner === "ada");
  expect(owned.map(({ restriction }) => restriction)).toEqual([undefined, undefined]);
});

const passing = [
  { name: "an environment that cannot be created", fault: new LeaseError("ENVIRONMENT_NOT_CREATED", "no") },
  { name: "a warm one that is gone", fault: new LeaseError("LEASE_ENDED", "gone") },
];
it.each(passing)("$name is no matter for the caller as long as another one can be had", async ({ fault }) => {
  const fake = createFakeLeases();
  await using set = openFakeSet({ limits: { warmWorkers: 0 } }, fake);
  if (fault.code === "LEASE_ENDED") fake.activateFaults.push(fault, fault);
  else fake.warmFaults.push(fault, fault);
  expect((await set.sessions.executeOnce("ada", once)).status).toBe("ok");
  fake.warmFaults.push(fault, fault, fault);
  await expect(set.sessions.executeOnce("ada", once)).rejects.toMatchObject({
    code: "WORKER_NOT_STARTED",
    cause: fault,
  });
});

const lasting = ["CAPABILITY_MISSING", "PROFILE_UNKNOWN", "QUOTA_REACHED"] as const;
it.each(lasting)("what the operator has to change is not tried again: %s", async (code) => {
  const fake = createFakeLeases();
  await using set = openFakeSet({ limits: { warmWorkers: 0 } }, fake);
  fake.warmFaults.push(new LeaseError(code, "no"));
  const wanted = code === "QUOTA_REACHED" ? "SESSIONS_BUSY" : "WORKER_NOT_STARTED";
  await expect(set.sessions.executeOnce("ada", once)).rejects.toMatchObject({ code: wanted });
  expect(fake.environments).toHaveLength(0);
});

it.each([
  { code: "QUOTA_REACHED", told: "SESSIONS_BUSY" },
  { code: "OPTION_INVALID", told: "OPTION_INVALID" },
] as const)("a worker that an owner may not have goes back to the others: $code", async ({ code, told }) => {
  const fake = createFakeLeases();
  await using set = openFakeSet({ limits: { warmWorkers: 1 } }, fake);
  await settled();
  fake.activateFaults.push(new LeaseError(code, "no"));
  await expect(set.sessions.executeOnce("ada", once)).rejects.toMatchObject({ code: told });
  await set.sessions.executeOnce("bob", once);
  expect(set.parts.runs[0]?.worker.number).toBe(1);
});

it("what ails the store of the leases is not told to an owner", async () => {
  const fake = createFakeLeases();
  await using set = openFakeSet({ limits: { warmWorkers: 0 } }, fake);
  const fault = new LeaseError("STORE_FAILED", "the store /secret/leases.db failed", { cure: "make room in /secret" });
  fake.warmFaults.push(fault);
  const refused = set.sessions.executeOnce("ada", once);
  await expect(refused).rejects.toMatchObject({ code: "WORKER_NOT_STARTED", cause: fault });
  await expect(refused).rejects.toSatisfy((told: SessionError) => !`${told.message}${told.cure}`.includes("secret"));
});

it("whoever stops waiting leaves the worker to the next one", async () => {
  const fake = createFakeLeases();
  const gate = deferred<void>();
  fake.hold = gate.promise;
  await using set = openFakeSet({ limits: { warmWorkers: 1 } }, fake);
  const leaving = new AbortController();
  const left = set.sessions.start({ owner: "ada", id: "a", signal: leaving.signal });
  const reason = new Error("never mind");
  leaving.abort(reason);
  await expect(left).rejects.toBe(reason);
  gate.resolve();
  await settled();
  await set.sessions.executeOnce("bob", once);
  expect(set.parts.runs[0]?.worker.number).toBe(1);
  expect(set.sessions.list("ada")).toEqual([]);
});

it("a worker that does not come up in time is a refusal, and leaves nothing", async () => {
  const fake = createFakeLeases();
  const gate = deferred<void>();
  fake.hold = gate.promise;
  await using set = openFakeSet({ limits: { warmWorkers: 0, startMs: 50 } }, fake);
  const call = set.sessions.executeOnce("ada", once);
  await settled();
  for (const _ of [1, 2, 3]) {
    set.clock.advance(50);
    gate.resolve();
    await settled();
  }
  // The first attempt was over its time; the second had its environment at once.
  expect((await call).status).toBe("ok");
  expect(fake.environments).toHaveLength(1);
});
