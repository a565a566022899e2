import { expect, it } from "vitest";
import { SessionError } from "../src/index.js";
import { deferred, settled } from "./fakes/deferred.js";
import { createFakeLeases } from "./fakes/leases.js";
import { outcomeOf } from "./fakes/parts.js";
import { openFakeSet } from "./fakes/set.js";

it("five sessions and as many warm workers in use starve no session-less call", async () => {
  await using set = openFakeSet();
  for (const id of ["a", "b", "c", "d", "e"]) await set.sessions.start({ owner: "ada", id });
  expect(await set.sessions.executeOnce("ada", { code: "1" })).toMatchObject({ status: "ok", stdout: { text: "1" } });
});

it("each call has a worker of its own, which is gone afterwards", async () => {
  await using set = openFakeSet({ limits: { warmWorkers: 0 } });
  for (const code of ["a", "b"]) await set.sessions.executeOnce("ada", { code });
  await settled();
  expect(set.parts.runs.map(({ worker }) => worker.number)).toEqual([1, 2]);
  expect(set.fake.environments.map(({ state }) => state)).toEqual(["closed", "closed"]);
  expect(set.parts.opened.map(({ name }) => name)).toEqual([undefined, undefined]);
});

it("one that runs and is given up has its worker stopped", async () => {
  await using set = openFakeSet();
  const leaving = new AbortController();
  const call = set.sessions.executeOnce("ada", { code: "wait", signal: leaving.signal });
  await settled();
  const reason = new Error("never mind");
  leaving.abort(reason);
  await expect(call).rejects.toBe(reason);
  await settled();
  expect(set.sessions.counts()).toMatchObject({ sessionless: 0 });
  expect(set.fake.environments[0]?.state).toBe("closed");
});

it("the same key gives the first outcome, while it runs and afterwards, and runs nothing again", async () => {
  await using set = openFakeSet();
  const call = { code: "wait", idempotencyKey: "k" };
  const first = set.sessions.executeOnce("ada", call);
  const second = set.sessions.executeOnce("ada", call);
  await settled();
  const outcome = outcomeOf("error", "partly");
  set.parts.runs[0]?.outcome.resolve(outcome);
  expect(await first).toBe(outcome);
  expect(await second).toBe(outcome);
  expect(await set.sessions.executeOnce("ada", call)).toBe(outcome);
  expect(set.parts.runs).toHaveLength(1);
});

it("a key stands for one code, and for one owner", async () => {
  await using set = openFakeSet();
  await set.sessions.executeOnce("ada", { code: "1", idempotencyKey: "k" });
  const other = set.sessions.executeOnce("ada", { code: "2", idempotencyKey: "k" });
  await expect(other).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
  const bobs = await set.sessions.executeOnce("bob", { code: "2", idempotencyKey: "k" });
  expect(bobs.stdout.text).toBe("2");
});

it("a call that was given up while it ran is not run again by its key", async () => {
  await using set = openFakeSet();
  const leaving = new AbortController();
  const call = { code: "wait", idempotencyKey: "k" };
  const first = set.sessions.executeOnce("ada", { ...call, signal: leaving.signal });
  await settled();
  leaving.abort(new Error("never mind"));
  await expect(first).rejects.toThrow("never mind");
  expect((await set.sessions.executeOnce("ada", call)).status).toBe("dead");
  expect(set.parts.runs).toHaveLength(1);
});

it("one of two that share a call may leave without ending it", async () => {
  await using set = openFakeSet();
  const leaving = new AbortController();
  const call = { code: "wait", idempotencyKey: "k" };
  const first = set.sessions.executeOnce("ada", { ...call, signal: leaving.signal });
  const second = set.sessions.executeOnce("ada", call);
  await settled();
  leaving.abort(new Error("never mind"));
  await expect(first).rejects.toThrow("never mind");
  set.parts.runs[0]?.outcome.resolve(outcomeOf("ok"));
  expect((await second).status).toBe("ok");
});

it("a key whose call was never handed over may be used again", async () => {
  const fake = createFakeLeases();
  const gate = deferred<void>();
  fake.hold = gate.promise;
  await using set = openFakeSet({}, fake);
  const leaving = new AbortController();
  const call = { code: "1", idempotencyKey: "k" };
  const first = set.sessions.executeOnce("ada", { ...call, signal: leaving.signal });
  await settled();
  leaving.abort(new Error("never mind"));
  await expect(first).rejects.toThrow("never mind");
  gate.resolve();
  await settled();
  expect((await set.sessions.executeOnce("ada", call)).status).toBe("ok");
});

it("the oldest outcomes of who has most are forgotten first", async () => {
  await using set = openFakeSet({ limits: { maxOutcomeBytes: 20_000 } });
  const big = "x".repeat(3_000);
  await set.sessions.executeOnce("bob", { code: "small", idempotencyKey: "k" });
  for (const idempotencyKey of ["1", "2", "3", "4"])
    await set.sessions.executeOnce("ada", { code: big, idempotencyKey });
  const runs = set.parts.runs.length;
  await set.sessions.executeOnce("bob", { code: "small", idempotencyKey: "k" });
  await set.sessions.executeOnce("ada", { code: big, idempotencyKey: "4" });
  expect(set.parts.runs).toHaveLength(runs);
  await set.sessions.executeOnce("ada", { code: big, idempotencyKey: "1" });
  expect(set.parts.runs).toHaveLength(runs + 1);
});

it("only so many outcomes of an owner are kept", async () => {
  await using set = openFakeSet({ limits: { maxOutcomes: 2 } });
  for (const key of ["1", "2", "3"]) await set.sessions.executeOnce("ada", { code: key, idempotencyKey: key });
  await set.sessions.executeOnce("ada", { code: "3", idempotencyKey: "3" });
  expect(set.parts.runs).toHaveLength(3);
  await set.sessions.executeOnce("ada", { code: "1", idempotencyKey: "1" });
  expect(set.parts.runs).toHaveLength(4);
});

it("another worker is tried only while the code was not handed over", async () => {
  await using set = openFakeSet();
  set.parts.refusals.push(new SessionError("SESSION_DEAD", "gone before it began"));
  expect((await set.sessions.executeOnce("ada", { code: "1" })).status).toBe("ok");
  const call = set.sessions.executeOnce("ada", { code: "wait" });
  await settled();
  set.parts.runs[1]?.worker.goes.resolve(undefined);
  expect((await call).status).toBe("dead");
  expect(set.parts.runs).toHaveLength(2);
});

it("a recorder's refusal of the intent refuses the call, once", async () => {
  await using set = openFakeSet();
  const fault = new Error("the chain is full");
  set.parts.refusals.push(fault);
  await expect(set.sessions.executeOnce("ada", { code: "1" })).rejects.toBe(fault);
  expect(set.parts.runs).toHaveLength(0);
});

const wrong = [
  { code: "x".repeat(1_025), idempotencyKey: undefined, timeoutMs: undefined, wanted: "CODE_TOO_LARGE" },
  { code: "x", idempotencyKey: "", timeoutMs: undefined, wanted: "OPTION_INVALID" },
  { code: "x", idempotencyKey: "k".repeat(201), timeoutMs: undefined, wanted: "OPTION_INVALID" },
  { code: "x", idempotencyKey: undefined, timeoutMs: 600_001, wanted: "OPTION_INVALID" },
  { code: "x", idempotencyKey: undefined, timeoutMs: 0.5, wanted: "OPTION_INVALID" },
];
it.each(wrong)("what cannot be run starts nothing: $wanted", async ({ wanted, ...call }) => {
  await using set = openFakeSet({ limits: { warmWorkers: 0, maxCodeBytes: 1_024 } });
  await expect(set.sessions.executeOnce("ada", call)).rejects.toMatchObject({ code: wanted });
  expect(set.fake.environments).toHaveLength(0);
});
