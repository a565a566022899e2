import { describe, expect, it } from "vitest";
import type { PluginAttempt } from "../../src/check/escapes/attempt.js";
import { judgeAttempt } from "../../src/check/escapes/judge-attempt.js";
import type { Said, Trial, Tried } from "../../src/check/escapes/try-attempts.js";

const reader: PluginAttempt = { id: "r", tool: "escape_attempt", arguments: {}, reads: ["aa"] };
const caller: PluginAttempt = { id: "c", tool: "escape_attempt", arguments: {}, seenAt: "tcp" };

const refused: Said = { outcome: "refused", name: "ENOENT", sha256: undefined };
const read: Said = { outcome: "succeeded", name: undefined, sha256: "aa" };
const readOther: Said = { outcome: "succeeded", name: undefined, sha256: "bb" };
const silent: Said = { outcome: "silent", name: "it did not answer", sha256: undefined };
const unable: Said = { outcome: "unsupported", name: undefined, sha256: undefined };

const tried = (said: Said, more: Partial<Tried> = {}): Tried => ({
  ...{ said: [said], seen: undefined, hostReads: true, hostReaches: undefined },
  ...more,
});
const called = (said: Said, seen: boolean, hostReaches = true): Tried =>
  tried(said, { seen, hostReaches, hostReads: undefined });
const trial = (id: string, one: Tried | undefined, ownWrite: boolean | undefined = true): Trial => ({
  ownWrite,
  tried: new Map(one === undefined ? [] : [[id, one]]),
});

describe("an attempt that reads", () => {
  it.each([
    { name: "refused inside, read outside", inside: tried(refused), outside: tried(read), outcome: "refused" },
    { name: "read inside", inside: tried(read), outside: tried(read), outcome: "escaped" },
    { name: "anything read inside", inside: tried(readOther), outside: tried(read), outcome: "escaped" },
    { name: "refused outside too", inside: tried(refused), outside: tried(refused), outcome: "inconclusive" },
    { name: "something else read outside", inside: tried(refused), outside: tried(readOther), outcome: "inconclusive" },
    { name: "not tried outside", inside: tried(refused), outside: undefined, outcome: "inconclusive" },
    { name: "no answer inside", inside: tried(silent), outside: tried(read), outcome: "inconclusive" },
    {
      name: "a secret that the host itself did not read",
      ...{ inside: tried(refused, { hostReads: false }), outside: tried(read), outcome: "inconclusive" },
    },
    { name: "a language that cannot", inside: tried(unable), outside: tried(unable), outcome: "unsupported" },
    { name: "a plugin without the tool", inside: undefined, outside: undefined, outcome: "unsupported" },
  ])("$name: $outcome", ({ inside, outside, outcome }) => {
    expect(judgeAttempt(reader, trial("r", inside), trial("r", outside)).outcome).toBe(outcome);
  });

  it.each([
    { ownWrite: false, outcome: "inconclusive" },
    { ownWrite: undefined, outcome: "unsupported" },
  ])("of a process that wrote nothing of its own ($ownWrite) is $outcome", ({ ownWrite, outcome }) => {
    const confined: Trial = { ...trial("r", tried(refused)), ownWrite };
    expect(judgeAttempt(reader, confined, trial("r", tried(read))).outcome).toBe(outcome);
  });
});

describe("an attempt that this machine can see", () => {
  it.each([
    {
      name: "refused, and seen outside",
      inside: called(refused, false),
      outside: called(read, true),
      outcome: "refused",
    },
    {
      name: "says refused, but arrived",
      inside: called(refused, true),
      outside: called(read, true),
      outcome: "escaped",
    },
    {
      name: "says succeeded, and nothing arrived: a loopback of its own",
      ...{ inside: called(read, false), outside: called(read, true), outcome: "refused" },
    },
    {
      name: "nothing arrived outside",
      inside: called(refused, false),
      outside: called(read, false),
      outcome: "inconclusive",
    },
    {
      name: "a listener that the host itself did not reach",
      ...{ inside: called(refused, false, false), outside: called(read, true), outcome: "inconclusive" },
    },
  ])("$name: $outcome", ({ inside, outside, outcome }) => {
    expect(judgeAttempt(caller, trial("c", inside), trial("c", outside)).outcome).toBe(outcome);
  });
});
