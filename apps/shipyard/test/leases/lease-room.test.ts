import { expect, it } from "vitest";
import { leaseRoom } from "../../src/leases/lease-room.js";

it("leases have room for what the sessions allow, twice", () => {
  expect(leaseRoom({ leases: {}, sessions: {} })).toEqual({ maxPerOwner: 18, maxTotal: 64 });
  const many = { maxSessions: 100, maxSessionless: 20, warmWorkers: 4 };
  expect(leaseRoom({ leases: {}, sessions: many })).toEqual({ maxPerOwner: 240, maxTotal: 260 });
});

it("what the operator wrote stays", () => {
  expect(leaseRoom({ leases: { maxPerOwner: 3, maxTotal: 9, graceMs: 1 }, sessions: {} })).toEqual({
    maxPerOwner: 3,
    maxTotal: 9,
    graceMs: 1,
  });
});
