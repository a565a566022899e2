import { realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createMeasurer } from "@berth/spawn-attestation";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { isProcessPluginError } from "../../src/index.js";
import { type EntryStatus, entryFaults, parentFaults } from "../../src/tree/entry-faults.js";
import { inspectPlugin } from "../../src/tree/inspect-plugin.js";
import { pluginFolder } from "../support/plugin-folder.js";

type Kind = "file" | "folder" | "link" | "pipe" | "socket" | "device";

const statusOf = (kind: Kind, mode: number, uid: number): EntryStatus => ({
  mode,
  uid,
  isFile: () => kind === "file",
  isDirectory: () => kind === "folder",
  isSymbolicLink: () => kind === "link",
  isFIFO: () => kind === "pipe",
  isSocket: () => kind === "socket",
});

const owners = new Set([0, 1000]);
const anyMode = fc.integer({ min: 0, max: 0o7777 });
const anyUser = fc.constantFrom(0, 1000, 1001, 65_534);

describe("an entry of any mode and owner", () => {
  it("is good when it is a file or folder that only trusted owners can change, and runs as nobody else", () => {
    const kinds = fc.constantFrom<Kind>("file", "folder", "pipe", "socket", "device");
    fc.assert(
      fc.property(kinds, anyMode, anyUser, (kind, mode, uid) => {
        const isGood = (kind === "file" || kind === "folder") && (mode & 0o6022) === 0 && owners.has(uid);
        expect(entryFaults(statusOf(kind, mode, uid), owners).length === 0).toBe(isGood);
      }),
    );
  });

  it("is nothing to look at by itself when it is a link", () => {
    expect(entryFaults(statusOf("link", 0o777, 65_534), owners)).toEqual([]);
  });

  it("may lie in a folder in which others may write only when that keeps what is another's", () => {
    fc.assert(
      fc.property(anyMode, anyUser, (mode, uid) => {
        const keeps = (mode & 0o022) === 0 || (mode & 0o1000) !== 0;
        expect(parentFaults(statusOf("folder", mode, uid), owners).length === 0).toBe(keeps && owners.has(uid));
      }),
    );
  });
});

describe("any links", () => {
  const measurer = createMeasurer();
  afterAll(() => measurer.close());

  it("of a folder that is accepted lead to something inside", async () => {
    const step = fc.constantFrom("..", ".", "a", "b", "l0", "l1", "l2", "plugin.json", "bin");
    const target = fc.array(step, { minLength: 1, maxLength: 4 }).map((steps) => steps.join("/"));
    const links = fc.dictionary(fc.constantFrom("l0", "l1", "l2", "a/l0", "a/b/l1"), target, { maxKeys: 4 });
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(links, async (chosen) => {
        const files = Object.fromEntries(Object.entries(chosen).map(([name, link]) => [name, { link }]));
        const folder = pluginFolder("exit 0", { "a/b/c": "", ...files });
        try {
          await inspectPlugin(folder, { measurer });
          accepted += 1;
          for (const name of Object.keys(files)) expect(`${realpathSync(join(folder, name))}/`).toContain(`${folder}/`);
        } catch (error) {
          if (!(isProcessPluginError(error) && error.code === "PLUGIN_REJECTED")) throw error;
        }
        rmSync(folder, { recursive: true });
      }),
      {
        numRuns: 60,
        examples: [[{ l0: "a/b" }], [{ l0: "l1/..", l1: "a/b" }], [{ "a/b/l1": "../../l0/c", l0: "a/b" }]],
      },
    );
    expect(accepted).toBeGreaterThan(0);
  }, 60_000);
});
