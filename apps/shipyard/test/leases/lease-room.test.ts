import { expect, it } from "vitest";
import { leaseRoom } from "../../src/leases/lease-room.js";

it("leases have room for what the sessions allow, twice", () => {
  expect(leaseRoom({ leases: {}, sessions: {} })).toEqual({ maxPerOwner: 18, maxTotal: 148 });
  const many = { maxSessions: 100, maxSessionless: 20, warmWorkers: 4 };
  expect(leaseRoom({ leases: {}, sessions: many })).toEqual({ maxPerOwner: 240, maxTotal: 260 });
  const shared = { ...many, maxTotalSessions: 500 };
  expect(leaseRoom({ leases: {}, sessions: shared })).toEqual({ maxPerOwner: 240, maxTotal: 1_060 });
  const few = { maxSessions: 1, maxTotalSessions: 2, maxSessionless: 1 };
  expect(leaseRoom({ leases: {}, sessions: few })).toEqual({ maxPerOwner: 4, maxTotal: 64 });
});

it("the sessions' widest limits stay within those of leases", () => {
  const sessions = { maxSessions: 1_024, maxTotalSessions: 4_096, maxSessionless: 256 };
  expect(leaseRoom({ leases: {}, sessions })).toEqual({ maxPerOwner: 1_024, maxTotal: 4_096 });
});

it("what the operator wrote stays", () => {
  expect(leaseRoom({ leases: { maxPerOwner: 3, maxTotal: 9, graceMs: 1 }, sessions: {} })).toEqual({
    maxPerOwner: 3,
    maxTotal: 9,
    graceMs: 1,
  });
});
