import { describe, expect, it } from "vitest";
import type { AttemptsReport } from "../../src/probe/attempts.js";
import { type AttemptsPair, judgeAttempts } from "../../src/probe/judge-attempts.js";
import { readAttempts } from "../../src/probe/read-attempts.js";

const kinds = ["user", "pid", "net", "ipc", "uts", "cgroup"];
const namespaces = (number: number) => Object.fromEntries(kinds.map((kind) => [kind, `${kind}:[${number}]`]));

const outside: AttemptsReport = {
  ownWrite: "ok",
  readOnlyWrite: "ok",
  secret: "a1",
  loopback: "ok",
  abstract: "ok",
  personality: "ok",
  namespaces: namespaces(1),
  status: { Seccomp_filters: "0" },
  openFiles: 100,
  fileBytes: 100_000,
};
const inside: AttemptsReport = {
  ...outside,
  readOnlyWrite: "EROFS",
  secret: "ENOENT",
  loopback: "ECONNREFUSED",
  abstract: "ECONNREFUSED",
  personality: "refused",
  namespaces: namespaces(2),
  status: { Seccomp_filters: "1", NoNewPrivs: "1", CapEff: "0000000000000000" },
};
const good: AttemptsPair = { inside, outside, secretHash: "a1", accepted: { loopback: 1, abstract: 1 } };

const failing = (pair: AttemptsPair): readonly string[] =>
  judgeAttempts(pair).flatMap(({ aspect, holds }) => (holds ? [] : [aspect]));
const within = (change: Partial<AttemptsReport>): AttemptsPair => ({ ...good, inside: { ...inside, ...change } });
const without = (change: Partial<AttemptsReport>): AttemptsPair => ({ ...good, outside: { ...outside, ...change } });

describe("what attempts show, an inner function since no machine shows all of it", () => {
  it("finds all of it where every attempt fails inside and succeeds outside", () => {
    expect(failing(good)).toEqual([]);
  });

  it.each<{ name: string; pair: AttemptsPair; fails: readonly string[] }>([
    { name: "a secret that is read", pair: within({ secret: "a1" }), fails: ["secret"] },
    { name: "another file in the place of the secret", pair: within({ secret: "b2" }), fails: ["secret"] },
    { name: "no word about the secret", pair: within({ secret: "undefined" }), fails: ["secret"] },
    { name: "a connection", pair: within({ loopback: "ok" }), fails: ["network"] },
    { name: "a stranger's connection", pair: { ...good, accepted: { loopback: 2, abstract: 1 } }, fails: ["network"] },
    { name: "a connection to the abstract socket", pair: within({ abstract: "ok" }), fails: ["abstract-socket"] },
    { name: "a sandbox that cannot do anything", pair: within({ ownWrite: "EACCES" }), fails: ["own-write"] },
    { name: "a folder that is written", pair: within({ readOnlyWrite: "ok" }), fails: ["read-only"] },
    { name: "a call that is not refused", pair: within({ personality: "ok" }), fails: ["seccomp"] },
    { name: "a call that nothing could make", pair: within({ personality: "ENOENT" }), fails: ["seccomp"] },
    {
      name: "a call that was refused by a filter of the host's own",
      pair: without({ status: { Seccomp_filters: "1" } }),
      fails: ["seccomp"],
    },
    {
      name: "capabilities",
      pair: within({ status: { ...inside.status, CapEff: "00000000a80425fb" } }),
      fails: ["privileges"],
    },
    { name: "new privileges", pair: within({ status: { ...inside.status, NoNewPrivs: "0" } }), fails: ["privileges"] },
    {
      name: "a shared namespace",
      pair: within({ namespaces: { ...namespaces(2), ipc: "ipc:[1]" } }),
      fails: ["ipc-namespace"],
    },
    {
      name: "a namespace of which nothing is known",
      pair: without({ namespaces: {} }),
      fails: kinds.map((kind) => `${kind}-namespace`),
    },
  ])("does not hold with $name", ({ pair, fails }) => {
    expect(failing(pair)).toEqual(fails);
  });

  it.each<{ name: string; pair: AttemptsPair; fails: readonly string[] }>([
    { name: "the secret", pair: without({ secret: "ENOENT" }), fails: ["secret"] },
    { name: "the listener", pair: without({ loopback: "ECONNREFUSED" }), fails: ["network"] },
    { name: "the abstract socket", pair: without({ abstract: "ECONNREFUSED" }), fails: ["abstract-socket"] },
    { name: "the folder", pair: without({ readOnlyWrite: "EROFS" }), fails: ["read-only"] },
  ])("does not hold when the host itself cannot reach $name, and says so", ({ pair, fails }) => {
    expect(failing(pair)).toEqual(fails);
    expect(judgeAttempts(pair).find(({ holds }) => !holds)?.cause).toMatch(/fails outside as well/);
  });

  it("reads nothing from a program that did not come to its end", () => {
    for (const text of ["", "{", "null", "7"]) expect(readAttempts(text), text).toBeUndefined();
    expect(failing({ ...good, inside: readAttempts("{}") ?? outside })).toContain("secret");
  });
});
