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
    { name: "has no dir", more: {}, words: "dir is missing" },
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

  it("may name how long its plugin is waited for", () => {
    const timeouts = { call_ms: 2_000, start_ms: 500 };
    expect(readProcessEntry(entry({ dir: "p", timeouts }), places)).toMatchObject({
      plugin: { timeouts: { callMs: 2_000, createMs: 500, startMs: 500 } },
    });
  });

  it.each([
    { group: "limits", key: "memory_bytes", good: [2 ** 24, 2 ** 40], bad: [2 ** 24 - 1, 2 ** 40 + 1, 2 ** 24 + 0.5] },
    { group: "limits", key: "processes", good: [2, 32_768], bad: [1, 32_769, -2] },
    { group: "limits", key: "cpus", good: [0.01, 1.5, 256], bad: [0, 256.5] },
    { group: "limits", key: "cpu_seconds", good: [1, 604_800], bad: [0, 604_801, 1.5] },
    { group: "limits", key: "file_bytes", good: [0, 2 ** 40], bad: [-1, 2 ** 40 + 1] },
    { group: "limits", key: "open_files", good: [16, 1_048_576], bad: [15, 1_048_577] },
    { group: "limits", key: "disk_bytes", good: [2 ** 20, 2 ** 40], bad: [100_000, 2 ** 40 + 1] },
    { group: "limits", key: "output_bytes", good: [1_024, 2 ** 40], bad: [1_023, 2 ** 40 + 1] },
    { group: "timeouts", key: "call_ms", good: [1, 3_600_000], bad: [0, 3_600_001, 1.5] },
    { group: "timeouts", key: "start_ms", good: [1, 3_600_000], bad: [0, 3_600_001, 1.5] },
  ])("has $group.$key within its range, or is refused by that key", ({ group, key, good, bad }) => {
    const read = (value: number) => readProcessEntry(entry({ dir: "p", [group]: { [key]: value } }), places);
    for (const value of good) expect(read(value)).toMatchObject({ ok: true });
    for (const value of bad)
      expect(read(value)).toEqual({
        ok: false,
        problems: [expect.stringMatching(`^${group}.${key} is not a .*number from`)],
      });
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
