// An inner file: what of a machine changes only by its operator's hand cannot be changed by a test.
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { basisOf } from "../../src/prepared/prepare.js";
import { readSandboxOptions } from "../../src/reading/read-options.js";
import type { SandboxOptions } from "../../src/sandbox.js";
import { thisHost } from "../../src/start/host.js";
import { type Layout, layOut } from "../../src/start/lay-out.js";
import { refuseHere } from "../../src/start/refuse-here.js";

const itInside = partTest("bubblewrap");
const layoutOf = (options: Partial<SandboxOptions> = {}): Layout => {
  const terms = readSandboxOptions({ name: "x", policy: {}, file: "/bin/sh", args: [], env: {}, ...options });
  return layOut(thisHost(), refuseHere(thisHost()), { ...terms, handshake: "handed" });
};

describe("what a prepared sandbox was made for", () => {
  const rows: readonly { readonly what: string; readonly change: (layout: Layout) => Layout }[] = [
    { what: "the means of a limit", change: (one) => ({ ...one, limits: { ...one.limits, enforced: [] } }) },
    { what: "bubblewrap", change: (one) => ({ ...one, tools: { ...one.tools, bubblewrap: "/bin/sh" } }) },
    { what: "a source", change: (one) => ({ ...one, binds: one.binds.map((bind) => ({ ...bind, inode: 1 })) }) },
    ...(["mountInfo", "ownGroups", "ownLimits", "ownRights", "ownShare"] as const).map((text) => ({
      what: text,
      change: (one: Layout): Layout => ({ ...one, machine: { ...one.machine, [text]: "another" } }),
    })),
  ];
  for (const { what, change } of rows)
    itInside(`is another thing when ${what} changed`, () => {
      expect(basisOf(change(layoutOf()))).not.toBe(basisOf(layoutOf()));
    });

  itInside("is the same whatever the command, and another for another policy, program and process 1", () => {
    const basis = basisOf(layoutOf());
    expect(basisOf(layoutOf({ name: "y", args: ["-c", "echo"], env: { A: "1" }, cwd: "/usr" }))).toBe(basis);
    const others = [{ policy: { tmpBytes: 2 ** 20 } }, { policy: { noGrowth: true } }, { asPid1: true }];
    for (const other of others) expect(basisOf(layoutOf(other))).not.toBe(basis);
  });
});
