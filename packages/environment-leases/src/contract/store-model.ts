import assert from "node:assert/strict";
import { isLeaseError } from "../errors.js";
import type { LeaseRecord, LeaseState } from "../lease.js";
import { createMemoryLeaseStore } from "../memory-store.js";
import type { LeaseChange, LeaseStore } from "../store.js";
import { createRandom, type Random } from "./random.js";
import { type StoreSubject, sampleRecord, shownRecord } from "./store-subject.js";

const stepsEachRound = 120;
const states: readonly [LeaseState, ...LeaseState[]] = ["reserved", "active", "releasing", "released", "lost"];

/** The same random calls to the store and to the memory store, which is the model, must come out the same. */
export async function checkRandomWrites(subject: StoreSubject, seed: number): Promise<void> {
  const random = createRandom(seed);
  const model = createMemoryLeaseStore();
  let { store } = subject;
  for (let step = 0; step < stepsEachRound; step += 1) {
    const call = randomCall(random);
    const sentence = `seed ${seed}, step ${step}: ${call.text}`;
    assert.deepEqual(await outcomeOf(call.run(store)), await outcomeOf(call.run(model)), sentence);
    if (subject.reopen !== undefined && random.below(30) === 0) {
      await store.close();
      store = await subject.reopen();
    }
  }
  assert.deepEqual(shown(await store.list()), shown(await model.list()), `seed ${seed}: all rows at the end`);
  await store.close();
}

interface StoreCall {
  readonly text: string;
  run(store: LeaseStore): Promise<unknown>;
}

function randomCall(random: Random): StoreCall {
  const number = random.below(6);
  const { id } = sampleRecord(number);
  const generation = 1 + random.below(4);
  const change = randomChange(random);
  const state = random.pick(states);
  const time = 1_800_000_000_000 + random.below(1_000_000);
  return random.pick<() => StoreCall>([
    () => ({ text: `insert ${number}`, run: (store) => store.insert(sampleRecord(number)) }),
    () => ({
      text: `update ${number} at ${generation} with ${JSON.stringify(change)}`,
      run: (store) => store.update(id, generation, change),
    }),
    () => ({
      text: `update ${number} at its own generation with ${JSON.stringify(change)}`,
      run: async (store) => store.update(id, (await store.get(id))?.generation ?? 1, change),
    }),
    () => ({ text: `touch ${number}`, run: async (store) => store.touch(id, time) }),
    () => ({ text: `list due at ${time}`, run: (store) => store.listDue(time) }),
    () => ({ text: `prune ${time}`, run: (store) => store.prune(time) }),
    () => ({ text: `list ${state}`, run: (store) => store.list({ states: [state] }) }),
  ])();
}

function randomChange(random: Random): LeaseChange {
  const state = random.pick(states);
  const isEnd = state === "released" || state === "lost";
  return random.pick<LeaseChange>([
    { state, ...(isEnd ? { endedAt: 1_800_000_000_000 + random.below(1_000) } : {}) },
    { state, endReason: "idle" },
    { expiresAt: 1_800_000_900_000 + random.below(1_000) },
    { lastError: "é", cleanupAttempts: random.below(9) },
    { labels: { n: String(random.below(9)) } },
  ]);
}

async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return shown(await work);
  } catch (error) {
    return `refused: ${isLeaseError(error) ? error.code : "bug"}`;
  }
}

function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown);
  return isRecord(value) ? shownRecord(value) : value;
}

function isRecord(value: unknown): value is LeaseRecord {
  return typeof value === "object" && value !== null && "worker" in value;
}
