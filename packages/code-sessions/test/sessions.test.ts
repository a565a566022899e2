import fc from "fast-check";
import { expect, it } from "vitest";
import { deferred, settled } from "./fakes/deferred.js";
import { createFakeLeases } from "./fakes/leases.js";
import { openFakeSet } from "./fakes/set.js";

it("a session is found by its owner and name only", async () => {
  await using set = openFakeSet();
  const session = await set.sessions.start({ owner: "ada", id: "work" });
  expect(set.sessions.get("ada", "work")).toBe(session);
  expect(set.sessions.list("ada").map(({ id }) => id)).toEqual(["work"]);
  expect(set.sessions.list("bob")).toEqual([]);
  expect(set.sessions.status("bob", "work")).toBeUndefined();
  expect(() => set.sessions.get("bob", "work")).toThrow(expect.objectContaining({ code: "SESSION_NOT_FOUND" }));
  const own = await set.sessions.start({ owner: "bob", id: "work" });
  expect(own).not.toBe(session);
  expect(set.sessions.listAll().map(({ owner, id }) => [owner, id])).toEqual([
    ["ada", "work"],
    ["bob", "work"],
  ]);
});

it("owners and names that run into each other are told apart", async () => {
  await using set = openFakeSet({ limits: { maxSessions: 8 } });
  for (const [owner, id] of [
    ["a", "b.c"],
    ["a/b", "c"],
    ["a", "b"],
    ["__proto__", "x"],
  ] as const) {
    await set.sessions.start({ owner, id });
  }
  expect(set.sessions.list("a").map(({ id }) => id)).toEqual(["b", "b.c"]);
  expect(set.sessions.list("__proto__").map(({ id }) => id)).toEqual(["x"]);
});

it("a name in use is refused, also while its session is being started, and free after a stop", async () => {
  const fake = createFakeLeases();
  const gate = deferred<void>();
  fake.hold = gate.promise;
  await using set = openFakeSet({}, fake);
  const first = set.sessions.start({ owner: "ada", id: "work" });
  const exists = { code: "SESSION_EXISTS" };
  await expect(set.sessions.start({ owner: "ada", id: "work" })).rejects.toMatchObject(exists);
  expect(set.sessions.list("ada")).toEqual([]);
  gate.resolve();
  const session = await first;
  await expect(set.sessions.start({ owner: "ada", id: "work" })).rejects.toMatchObject(exists);
  await session.stop();
  await set.sessions.start({ owner: "ada", id: "work" });
});

it("a start that fails gives its name and its place back", async () => {
  await using set = openFakeSet({ limits: { maxSessions: 1, warmWorkers: 0 } });
  const fault = new Error("a bug");
  set.parts.startFaults.push(fault);
  await expect(set.sessions.start({ owner: "ada", id: "work" })).rejects.toBe(fault);
  expect(set.fake.environments[0]?.state).toBe("closed");
  await set.sessions.start({ owner: "ada", id: "work" });
});

it("a made up name is session_ and 12 hexadecimal digits", async () => {
  await using set = openFakeSet();
  const { id } = await set.sessions.start({ owner: "ada" });
  expect(id).toMatch(/^session_[0-9a-f]{12}$/);
});

const bad = ["", ".a", "-a", "_a", "a b", "a/b", "ä", "a\n", "a".repeat(65), "a\0"];
it.each(bad)("%j is no name", async (id) => {
  await using set = openFakeSet();
  await expect(set.sessions.start({ owner: "ada", id })).rejects.toMatchObject({ code: "SESSION_ID_INVALID" });
});

it("1 to 64 characters of the alphabet are a name", async () => {
  await using set = openFakeSet({ limits: { maxSessions: 1, warmWorkers: 0 } });
  const first = "aZ0".split("");
  const names = fc.tuple(fc.constantFrom(...first), fc.string({ unit: fc.constantFrom(..."aZ0._-"), maxLength: 63 }));
  await fc.assert(
    fc.asyncProperty(names, async ([head, rest]) => {
      const session = await set.sessions.start({ owner: "ada", id: head + rest });
      await session.stop();
    }),
    { numRuns: 50 },
  );
});

it("a dead session leaves the list at once, its name is free, and how it ended is told for a while", async () => {
  await using set = openFakeSet();
  const session = await set.sessions.start({ owner: "ada", id: "work" });
  set.parts.workers[0]?.goes.resolve(undefined);
  await session.ended;
  expect(set.sessions.list("ada")).toEqual([]);
  await settled();
  expect(set.sessions.status("ada", "work")).toMatchObject({ state: "dead", end: { reason: "exit" } });
  expect(set.sessions.status("bob", "work")).toBeUndefined();
  const dead = expect.objectContaining({ code: "SESSION_DEAD", end: expect.objectContaining({ reason: "exit" }) });
  expect(() => set.sessions.get("ada", "work")).toThrow(dead);
  set.clock.advance(600_000);
  expect(set.sessions.status("ada", "work")).toBeUndefined();
  expect(() => set.sessions.get("ada", "work")).toThrow(expect.objectContaining({ code: "SESSION_NOT_FOUND" }));
  await set.sessions.start({ owner: "ada", id: "work" });
});

it("the end of its lease ends a session with that reason", async () => {
  await using set = openFakeSet({ limits: { warmWorkers: 0 } });
  const session = await set.sessions.start({ owner: "ada", id: "work" });
  set.fake.environments[0]?.ended.resolve({ reason: "deadline", detail: "" });
  expect(await session.ended).toMatchObject({ reason: "expired" });
  expect(set.sessions.status("ada", "work")).toMatchObject({ state: "dead", end: { reason: "expired" } });
});

it("only so many ended sessions of an owner are told of, the last ones", async () => {
  await using set = openFakeSet({ limits: { maxEnded: 2 } });
  for (const id of ["a", "b", "c"]) await (await set.sessions.start({ owner: "ada", id })).stop();
  await (await set.sessions.start({ owner: "bob", id: "a" })).stop();
  await settled();
  expect(["a", "b", "c"].map((id) => set.sessions.status("ada", id)?.state)).toEqual([undefined, "stopped", "stopped"]);
  expect(set.sessions.status("bob", "a")?.state).toBe("stopped");
});

it("start and end are recorded, and a recorder that fails changes nothing", async () => {
  await using set = openFakeSet();
  const session = await set.sessions.start({ owner: "ada", id: "work" });
  await session.stop();
  await settled();
  expect(set.events).toMatchObject([
    { kind: "session.started", session: "work", owner: "ada", lease: "lease-1" },
    { kind: "session.ended", session: "work", owner: "ada", lease: "lease-1", end: { reason: "stopped" } },
  ]);
  const fault = new Error("the disk is full");
  await using failing = openFakeSet({ record: () => Promise.reject(fault) });
  await failing.sessions.start({ owner: "ada", id: "work" });
  await settled();
  expect(failing.faults).toEqual([fault]);
});

it("hard lifetime and idle limit go to the lease, given or by default", async () => {
  await using set = openFakeSet({ limits: { warmWorkers: 0 }, idleMs: 5_000 });
  await set.sessions.start({ owner: "ada", id: "a" });
  await set.sessions.start({ owner: "ada", id: "b", ttlMs: 9_000, idleMs: 2_000 });
  const asked = set.fake.environments.map((environment) => environment.asked);
  expect(asked).toMatchObject([
    { owner: "ada", ttlMs: 86_400_000, idleMs: 5_000, labels: { session: "a" } },
    { owner: "ada", ttlMs: 9_000, idleMs: 2_000, labels: { session: "b" } },
  ]);
});

it("close stops all, ends the warm workers and refuses what comes; it may be called again", async () => {
  const set = openFakeSet();
  const session = await set.sessions.start({ owner: "ada", id: "work" });
  const running = set.sessions.executeOnce("ada", { code: "wait" });
  await settled();
  const closed = set.sessions.close();
  expect(set.sessions.close()).toBe(closed);
  await closed;
  expect((await running).status).toBe("dead");
  expect((await session.ended).reason).toBe("shutdown");
  expect(set.events).toMatchObject([
    { kind: "session.started" },
    { kind: "session.ended", end: { reason: "shutdown" } },
  ]);
  expect(set.sessions.status("ada", "work")).toMatchObject({ state: "dead", end: { reason: "shutdown" } });
  expect(set.fake.environments.map(({ state }) => state)).not.toContain("warm");
  const refused = { code: "SESSIONS_CLOSED" };
  await expect(set.sessions.start({ owner: "ada" })).rejects.toMatchObject(refused);
  await expect(set.sessions.executeOnce("ada", { code: "1" })).rejects.toMatchObject(refused);
  expect(set.clock.pending).toBe(0);
});

it("close ends starts that are under way, and waits no longer than closeMs", async () => {
  const fake = createFakeLeases();
  fake.hold = new Promise(() => undefined);
  const set = openFakeSet({}, fake);
  const starting = set.sessions.start({ owner: "ada", id: "work" });
  const closed = set.sessions.close();
  await settled();
  set.clock.advance(30_000);
  await closed;
  void starting.catch(() => undefined);
});

const wrong = [
  { limits: { maxSessions: 0 } },
  { limits: { maxSessions: 1.5 } },
  { limits: { maxTotalSessions: 4_097 } },
  { limits: { maxSesions: 3 } },
  { ttl: 5 },
];
it.each(wrong)("%j is refused", (options) => {
  expect(() => openFakeSet(options)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
});
