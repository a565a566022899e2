// An inner file: what the kernel and bubblewrap can tell together is more than a test can bring about.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ExitFacts, readExit } from "../../src/end/read-exit.js";

const plain: ExitFacts = {
  outerExit: { code: 0, signal: null },
  exitCode: 0,
  memoryKills: undefined,
  asPid1: false,
  endReason: undefined,
};

describe("an exit", () => {
  it.each([
    { title: "by itself", facts: {}, reason: "exited", code: 0 },
    { title: "with a status", facts: { exitCode: 127 }, reason: "exited", code: 127 },
    { title: "with a status of no signal", facts: { exitCode: 255 }, reason: "exited", code: 255 },
    { title: "by a signal", facts: { exitCode: 143 }, reason: "signalled", signal: "SIGTERM" },
    {
      title: "by the kernel, for memory",
      facts: { exitCode: 137, memoryKills: 1 },
      reason: "memory",
      signal: "SIGKILL",
    },
    {
      title: "by a status after a child was killed for memory",
      facts: { exitCode: 1, memoryKills: 1 },
      reason: "exited",
      code: 1,
    },
    {
      title: "of process 1 by somebody outside",
      facts: { exitCode: 137, asPid1: true },
      reason: "killed",
      signal: "SIGKILL",
    },
    {
      title: "of process 1 by its own fault",
      facts: { exitCode: 139, asPid1: true },
      reason: "signalled",
      signal: "SIGSEGV",
    },
    {
      title: "with bubblewrap",
      facts: { exitCode: undefined, outerExit: { code: null, signal: "SIGKILL" } },
      reason: "killed",
      signal: "SIGKILL",
    },
    { title: "by close, obeyed", facts: { endReason: "closed", exitCode: 4 }, reason: "closed", code: 4 },
    {
      title: "by close, after a child was killed for memory",
      facts: { endReason: "closed", exitCode: 137, memoryKills: 2 },
      reason: "closed",
      signal: "SIGKILL",
    },
    { title: "for its output", facts: { endReason: "output", exitCode: 137 }, reason: "output", signal: "SIGKILL" },
    { title: "for its disk", facts: { endReason: "disk", exitCode: 137 }, reason: "disk", signal: "SIGKILL" },
  ] as const)("$title is told so", (row) => {
    const code = "code" in row ? row.code : undefined;
    const signal = "signal" in row ? row.signal : undefined;
    expect(readExit({ ...plain, ...row.facts })).toMatchObject({ reason: row.reason, code, signal });
  });

  it("has a code or a signal, and never both", () => {
    fc.assert(
      fc.property(fc.option(fc.nat({ max: 255 }), { nil: undefined }), fc.boolean(), (exitCode, asPid1) => {
        const { code, signal } = readExit({ ...plain, exitCode, asPid1 });
        expect((code === undefined) !== (signal === undefined)).toBe(true);
      }),
    );
  });
});
