import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { printNewestEntries, printVerification, type ShownEntry } from "../src/audit/index.js";

let out = "";
let err = "";
beforeEach(() => {
  out = "";
  err = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    err += String(text);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

const timeOf = (second: number): string => new Date(second * 1_000).toISOString();
const entryOf = (log: string, seq: number, second: number, more: object = {}): ShownEntry => ({
  log,
  entry: { seq, time: timeOf(second), type: "call", prev: "p", hash: "h", session: "s", ...more },
});
async function* each(entries: readonly ShownEntry[]): AsyncGenerator<ShownEntry> {
  yield* entries;
}

describe("the newest entries", () => {
  it("are those of all logs by their times, oldest first", async () => {
    const entries = [entryOf("a", 1, 10), entryOf("a", 2, 30), entryOf("b", 1, 20), entryOf("b", 2, 40)];
    await printNewestEntries(each(entries), { lines: "3", json: true });
    const printed = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(printed.map(({ log, seq }) => [log, seq])).toEqual([
      ["b", 1],
      ["a", 2],
      ["b", 2],
    ]);
  });

  it("are twenty for a person and all for a program", async () => {
    const entries = Array.from({ length: 50 }, (_, at) => entryOf("a", at + 1, at));
    await printNewestEntries(each(entries));
    expect(out.trim().split("\n")).toHaveLength(20);
    out = "";
    await printNewestEntries(each(entries), { json: true });
    expect(out.trim().split("\n")).toHaveLength(50);
    expect(err).toBe("");
  });

  it("are any number of the newest, whatever their order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 1_000 })),
        fc.integer({ min: 1, max: 30 }),
        async (seconds, count) => {
          out = "";
          await printNewestEntries(each(seconds.map((second, at) => entryOf("a", at + 1, second))), {
            lines: String(count),
            json: true,
          });
          const printed =
            out.trim() === ""
              ? []
              : out
                  .trim()
                  .split("\n")
                  .map((line) => JSON.parse(line).time);
          const sorted = seconds.map(timeOf).sort();
          expect(printed).toEqual(sorted.slice(-count));
        },
      ),
    );
  });

  it("that are left out are counted", async () => {
    const count = 100_003;
    const many = (async function* () {
      for (let seq = 1; seq <= count; seq++) yield entryOf("a", seq, seq);
    })();
    await printNewestEntries(many, { lines: "all", json: true });
    expect(err).toBe("the oldest 3 entries are left out: 100000 is the most\n");
    expect(JSON.parse(out.slice(0, out.indexOf("\n"))).seq).toBe(4);
  });

  it("show a person what leads first, cut digests, and no links of the chain", async () => {
    const digest = `tree-v1:${"0123456789ab".padEnd(64, "c")}`;
    await printNewestEntries(each([entryOf("a", 7, 0, { other: [1], secret: 1, digest, plugin: "x" })]), {
      leading: ["plugin", "absent"],
      hidden: ["secret"],
    });
    expect(out).toBe(
      "1970-01-01T00:00:00.000Z  #7     call                   plugin=x  other=[1]  digest=tree-v1:0123456789ab…\n",
    );
  });

  it("show a text that could be taken for another member in quotes", async () => {
    await printNewestEntries(each([entryOf("a", 1, 0, { code: "C  status=allowed", empty: "" })]));
    expect(out).toContain('call                   code="C  status=allowed"  empty=""\n');
  });

  it.each(["0", "-1", "1.5", "100001", "many", ""])("cannot be %j lines", async (lines) => {
    await expect(printNewestEntries(each([]), { lines })).rejects.toMatchObject({ code: "USAGE", exitCode: 2 });
  });
});

describe("a verification", () => {
  const head = { hash: "0123456789abcdef".padEnd(64, "0") };
  const good = { id: "one", ok: true, entries: 3, head };
  const found = { log: "two", seq: 2, code: "HASH_MISMATCH", message: "entry 2 is another" };

  it("that is good ends with 0", () => {
    const report = { ok: true, entries: 3, problemCount: 0, logs: [good], problems: [], notices: [] };
    expect(printVerification(report)).toBe(0);
    expect(out).toBe("ok       one  3 entries  head 0123456789abcdef\n1 logs, 3 entries, verified\n");
  });

  it("that is not names the log, the entry and the code, and ends with 1, in JSON too", () => {
    const bad = { id: "two", ok: false, entries: 1, head: null };
    const report = { ok: false, entries: 4, problemCount: 1, logs: [good, bad], problems: [found], notices: [] };
    expect(printVerification(report)).toBe(1);
    expect(out).toContain("DAMAGED  two  1 entries  head none\n  two entry 2: HASH_MISMATCH  entry 2 is another\n");
    expect(out).toContain("2 logs, 4 entries, NOT verified: 1 problems\n");
    out = "";
    expect(printVerification(report, { json: true })).toBe(1);
    expect(JSON.parse(out)).toEqual(report);
  });
});
