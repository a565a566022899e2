import { describe, expect, it } from "vitest";
import type { AttemptPlan } from "../../src/escapes/attempt-list.js";
import type { EscapeAnswer } from "../../src/escapes/index.js";
import { judge, type Seen } from "../../src/escapes/judge.js";
import { createLines } from "../../src/escapes/lines.js";
import { hear } from "../../src/escapes/read-answer.js";
import type { Run } from "../../src/escapes/run-once.js";

const canarySha256 = "a".repeat(64);
const silent: EscapeAnswer = {
  outcome: "silent",
  errno: undefined,
  name: undefined,
  bytes: undefined,
  sha256: undefined,
};
const answered = (answer: Partial<EscapeAnswer>, run: Partial<Run> = {}): Run => ({
  ...{ fault: undefined, control: { held: true, name: "" }, effect: false },
  answer: { ...silent, ...answer },
  ...run,
});
const refused = answered({ outcome: "refused", errno: 2, name: "ENOENT" });
const read = answered({ outcome: "succeeded", bytes: 64, sha256: canarySha256 });
const done = answered({ outcome: "succeeded" });
const ended = answered({ outcome: "ended", name: "memory" });

const plan = (more: Partial<AttemptPlan> = {}): AttemptPlan => ({
  ...{ id: "x", title: "x", tries: "x", control: "unwrapped" },
  ...more,
});
const seen = (more: Partial<Seen> = {}): Seen => ({
  ...{ confined: refused, control: done, canarySha256 },
  host: { reads: undefined, reaches: undefined, offered: undefined },
  ...more,
});
const host = (more: Partial<Seen["host"]>): Seen["host"] => ({
  reads: undefined,
  reaches: undefined,
  offered: undefined,
  ...more,
});

describe("an attempt", () => {
  it.each([
    { what: "was refused, and succeeds without the protection", plan: plan(), seen: seen(), outcome: "refused" },
    { what: "succeeded", plan: plan(), seen: seen({ confined: done }), outcome: "escaped" },
    {
      what: "succeeded, while a control did not hold",
      plan: plan(),
      seen: seen({ confined: done, control: refused }),
      outcome: "escaped",
    },
    { what: "is refused everywhere", plan: plan(), seen: seen({ control: refused }), outcome: "inconclusive" },
    {
      what: "could not be tried without the protection",
      plan: plan(),
      seen: seen({ control: { ...refused, fault: "ENOENT" } }),
      outcome: "inconclusive",
    },
    {
      what: "was not started",
      plan: plan(),
      seen: seen({ confined: answered({}, { fault: "no", control: undefined }) }),
      outcome: "inconclusive",
    },
    {
      what: "could not write its own file",
      plan: plan(),
      seen: seen({ confined: { ...refused, control: { held: false, name: "EROFS" } } }),
      outcome: "inconclusive",
    },
    { what: "said nothing", plan: plan(), seen: seen({ confined: answered({}) }), outcome: "inconclusive" },
    { what: "was ended", plan: plan(), seen: seen({ confined: ended }), outcome: "inconclusive" },
    {
      what: "was ended, as its limit wants",
      plan: plan({ mayEnd: true }),
      seen: seen({ confined: ended }),
      outcome: "refused",
    },
    {
      what: "was refused before it could say what it may do",
      plan: plan({ mayEnd: true }),
      seen: seen({ confined: { ...ended, control: undefined } }),
      outcome: "inconclusive",
    },
    {
      what: "read the canary",
      plan: plan({ reads: "canary" }),
      seen: seen({ confined: read, control: read }),
      outcome: "escaped",
    },
    {
      what: "read something else",
      plan: plan({ reads: "canary" }),
      seen: seen({ confined: done, control: read }),
      outcome: "refused",
    },
    {
      what: "does not read the canary without the protection",
      plan: plan({ reads: "canary" }),
      seen: seen(),
      outcome: "inconclusive",
    },
    {
      what: "aims at what this machine cannot read",
      plan: plan(),
      seen: seen({ host: host({ reads: false }) }),
      outcome: "inconclusive",
    },
    {
      what: "aims at a dead listener",
      plan: plan(),
      seen: seen({ host: host({ reaches: false }) }),
      outcome: "inconclusive",
    },
    {
      what: "was refused, but arrived",
      plan: plan({ effect: "tcp" }),
      seen: seen({ confined: { ...refused, effect: true }, host: host({ reaches: true }) }),
      outcome: "escaped",
    },
    {
      what: "had nothing to inherit",
      plan: plan(),
      seen: seen({ host: host({ offered: false }) }),
      outcome: "inconclusive",
    },
    {
      what: "claims what had no effect",
      plan: plan({ onlyEffect: true, effect: "signal" }),
      seen: seen({ confined: done, control: { ...done, effect: true } }),
      outcome: "refused",
    },
    {
      what: "has no effect without the protection either",
      plan: plan({ onlyEffect: true, effect: "signal" }),
      seen: seen({ confined: refused }),
      outcome: "inconclusive",
    },
  ])("that $what is $outcome", ({ plan, seen, outcome }) => {
    expect(judge(plan, seen).outcome).toBe(outcome);
  });

  it("is told with the name of each control that did not hold", () => {
    const { controls } = judge(plan(), seen({ control: refused, host: host({ reaches: false }) }));
    expect(controls.filter(({ held }) => !held).map(({ name }) => name)).toEqual([
      "host-reaches",
      "without-protection",
    ]);
  });
});

describe("what comes from inside", () => {
  const nothing = { control: undefined, answer: undefined };
  it.each([
    { what: "a number", message: { result: 1 } },
    { what: "no outcome", message: { result: {} } },
    { what: "another outcome", message: { result: { outcome: "ended" } } },
    { what: "a list", message: { result: [] } },
    { what: "null", message: { result: null, control: null } },
    { what: "a control without a word", message: { control: {} } },
  ])("is no answer when it is $what", ({ message }) => {
    expect(hear(nothing, message)).toEqual(nothing);
  });

  it("is told only as far as it has the form of an answer, and only once", () => {
    const result = { outcome: "refused", errno: -1, name: "\u001b[31m", bytes: 0.5, sha256: "secret", more: "secret" };
    const first = hear(nothing, { result });
    expect(first.answer).toEqual({ ...silent, outcome: "refused" });
    expect(hear(first, { result: { outcome: "succeeded" } })).toEqual(first);
  });

  it("is read in bounded memory, however long its lines are and however they are cut", () => {
    const messages: object[] = [];
    const lines = createLines((message) => void messages.push(message));
    const flood = Buffer.alloc(65_536, "x");
    for (let count = 0; count < 64; count += 1) lines.push(flood);
    const text = '\n{"a":1}\n[]\n{broken\n{"b":2}\n';
    for (const letter of text) lines.push(Buffer.from(letter));
    expect(messages).toEqual([{ a: 1 }, { b: 2 }]);
    expect(lines.bytes()).toBe(64 * 65_536 + text.length);
    lines.push(Buffer.from('{"c":3}\n'.repeat(2_000)));
    expect(messages.length).toBe(999); // of 1,000 that are read; one was broken
  });
});
