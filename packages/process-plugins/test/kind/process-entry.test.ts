import { describe, expect, it } from "vitest";
import { type ProcessKindEntry, readProcessEntry } from "../../src/index.js";

const places = { base: "/etc/berth", data: "/var/lib/berth/plugins" };
const entry = (more: ProcessKindEntry["more"], changes: Partial<ProcessKindEntry> = {}): ProcessKindEntry => ({
  name: "guard",
  hooks: [],
  config: undefined,
  more,
  ...changes,
});

describe("an entry of the kind process", () => {
  it("needs a folder only, and gets a data folder of its name", () => {
    expect(readProcessEntry(entry({ dir: "plugins/guard" }), places)).toEqual({
      ok: true,
      plugin: {
        name: "guard",
        folder: "/etc/berth/plugins/guard",
        dataFolder: "/var/lib/berth/plugins/guard",
        digest: undefined,
        interpreters: undefined,
        readOnly: undefined,
        allowUnconfined: false,
        limits: undefined,
      },
    });
  });

  it("may name a digest, interpreters, trees, limits, and that it is not confined", () => {
    const digest = `tree-v1:${"0a".repeat(32)}`;
    const more = {
      dir: "/p",
      digest,
      interpreters: ["py/bin/python3"],
      read_only: ["/srv/models"],
      limits: { memory_bytes: 2 ** 28, processes: 16, cpus: 0.5 },
      allow_unconfined: true,
    };
    expect(readProcessEntry(entry(more), places)).toMatchObject({
      plugin: {
        digest,
        interpreters: ["/etc/berth/py/bin/python3"],
        readOnly: ["/srv/models"],
        allowUnconfined: true,
        limits: { confinement: { memoryBytes: 2 ** 28, processes: 16, cpus: 0.5 } },
      },
    });
  });

  it.each([
    { name: "has no dir", more: {}, words: "dir is not" },
    { name: "has an empty dir", more: { dir: "" }, words: "dir is not" },
    { name: "has another key", more: { dir: "p", cmd: "x" }, words: "cmd is no key" },
    {
      name: "has a digest of one file",
      more: { dir: "p", digest: `sha256:${"0".repeat(64)}` },
      words: "digest is not",
    },
    {
      name: "has an interpreter that is a number",
      more: { dir: "p", interpreters: [7] },
      words: "interpreters is not",
    },
    { name: "has one path in place of a list", more: { dir: "p", read_only: "/x" }, words: "read_only is not" },
    { name: "has a flag that is a text", more: { dir: "p", allow_unconfined: "no" }, words: "allow_unconfined is" },
    {
      name: "has a limit that there is not",
      more: { dir: "p", limits: { memoryBytes: 1 } },
      words: "limits.memoryBytes",
    },
    {
      name: "has a limit named __proto__",
      more: JSON.parse('{"dir":"p","limits":{"__proto__":1}}'),
      words: "__proto__",
    },
    { name: "has a limit that is no number", more: { dir: "p", limits: { cpus: "1" } }, words: "limits.cpus" },
    { name: "has limits that are a list", more: { dir: "p", limits: [] }, words: "limits is no mapping" },
  ])("that $name is refused", ({ more, words }) => {
    expect(readProcessEntry(entry(more), places)).toEqual({ ok: false, problems: [expect.stringContaining(words)] });
  });

  it("is told with all its faults", () => {
    const reading = readProcessEntry(entry({ digest: 1, x: 1 }, { config: {}, name: "../up" }), places);
    expect(reading.ok ? [] : reading.problems).toHaveLength(5);
  });

  it.each(["..", ".", "a/b", "a__b", "a_", "_a", "", "a".repeat(64), "é", "a b", "a\n"])(
    "named %j is refused: it names a folder and the tools",
    (name) => {
      expect(readProcessEntry(entry({ dir: "p" }, { name }), places).ok).toBe(false);
    },
  );
});
