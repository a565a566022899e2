import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CountedDecision, createDecisionTally, type EgressDecision } from "../../src/egress/index.js";

const refused: EgressDecision = {
  protocol: "connect",
  host: "other.test",
  port: 443,
  outcome: "refused",
  reason: "HOST_NOT_ALLOWED",
  address: undefined,
};

const decisions = fc.record<EgressDecision>({
  protocol: fc.constantFrom("connect", "http", "socks5"),
  host: fc.nat({ max: 200 }).map((number) => `h${number}.test`),
  port: fc.constantFrom(80, 443),
  outcome: fc.constant("refused"),
  reason: fc.constantFrom("HOST_NOT_ALLOWED", "PORT_NOT_ALLOWED", undefined),
  address: fc.constantFrom("1.1.1.1", undefined),
});

const kindOf = ({ host, port, reason }: EgressDecision): string => `${host} ${port} ${reason}`;

describe("a tally of decisions", () => {
  it("gives out the first of a kind, then each time that its count has doubled, and at the end what is left", () => {
    const tally = createDecisionTally();
    const counts = Array.from({ length: 100 }, () => tally.add(refused)?.count);
    expect(counts.filter((count) => count !== undefined)).toEqual([1, 2, 4, 8, 16, 32, 64]);
    expect(tally.rest()).toEqual([{ ...refused, count: 100 }]);
    expect(tally.rest()).toEqual([]);
  });

  it("takes another host, port or reason for another kind, and another protocol or address for none", () => {
    const tally = createDecisionTally();
    expect(tally.add(refused)).toEqual({ ...refused, count: 1 });
    const others = [{ host: "third.test" }, { port: 80 }, { reason: "PORT_NOT_ALLOWED" } as const];
    for (const other of others) expect(tally.add({ ...refused, ...other })).toEqual({ ...refused, ...other, count: 1 });
    expect(tally.add({ ...refused, protocol: "socks5", address: "1.1.1.1" })?.count).toBe(2);
  });

  it("counts kinds beyond 64 of a reason together, and those of other reasons as before", () => {
    const tally = createDecisionTally();
    const told = Array.from({ length: 10_000 }, (_, index) => tally.add({ ...refused, host: `h${index}.test` }));
    const entries = told.filter((entry) => entry !== undefined);
    expect(entries.slice(0, 64).map(({ count }) => count)).toEqual(Array(64).fill(1));
    // 9,936 are left: 1, 2, 4, … 8,192.
    expect(entries.slice(64).map(({ host, port, count }) => [host, port, count])).toEqual(
      Array.from({ length: 14 }, (_, power) => ["", 0, 2 ** power]),
    );
    expect(tally.rest()).toEqual([{ ...refused, host: "", port: 0, count: 9_936 }]);
    const allowed = { ...refused, outcome: "allowed", reason: undefined } as const;
    expect(tally.add(allowed)).toEqual({ ...allowed, count: 1 });
  });

  it("loses no decision, whatever comes in whatever order, and stays within its bound", () => {
    fc.assert(
      fc.property(fc.array(decisions, { maxLength: 2_000, size: "max" }), fc.nat({ max: 2_000 }), (made, pause) => {
        const tally = createDecisionTally();
        const told: CountedDecision[] = [];
        for (const [index, decision] of made.entries()) {
          told.push(...[tally.add(decision) ?? []].flat());
          if (index === pause) told.push(...tally.rest());
        }
        const entries = told.length;
        const last = new Map([...told, ...tally.rest()].map((entry) => [kindOf(entry), entry.count]));
        expect([...last.values()].reduce((sum, count) => sum + count, 0)).toBe(made.length);
        const single = [...last].filter(([kind]) => !kind.startsWith(" "));
        for (const [kind, count] of single) expect(count).toBe(made.filter((each) => kindOf(each) === kind).length);
        expect(last.size).toBeLessThanOrEqual(3 * 65);
        expect(entries).toBeLessThanOrEqual(last.size * (Math.log2(made.length + 1) + 2));
      }),
    );
  });
});
