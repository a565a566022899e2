import { hash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { EntryInput } from "../src/index.js";
import { entriesOf, linesOf, logFolder, open, rejection, segmentsOf, tickingClock, writeLog } from "./scratch.js";

describe("an entry", () => {
  it("is numbered, timed, linked and hashed before append returns, in call order", async () => {
    const directory = logFolder();
    await using chain = await open(directory, { now: tickingClock() });
    const first = chain.append({ type: "a" });
    const head = chain.head;
    const second = chain.append({ type: "b" });
    expect(head.sequence).toBe(1);
    expect(chain.head.sequence).toBe(2);
    expect(await first).toEqual({ ...head, time: "2026-01-02T03:04:05.002Z" });
    expect(await second).toMatchObject({ sequence: 2, hash: chain.head.hash });
    const read = await entriesOf(directory);
    expect(read.map(({ seq, type }) => [seq, type])).toEqual([
      [1, "a"],
      [2, "b"],
    ]);
    expect(read[1]?.prev).toBe(read[0]?.hash);
  });

  it("bears the SHA-256 of its stored bytes", async () => {
    const [, line = ""] = linesOf(await writeLog([{ type: "a", text: "ß😂\n" }]));
    const body = Buffer.from(line).subarray(9, -75);
    expect(line.slice(-66, -2)).toBe(hash("sha256", body, "hex"));
    expect(line.slice(0, 9)).toBe('{"entry":');
  });

  it("is stored as it was at the call, whatever happens to the object afterwards", async () => {
    const directory = logFolder();
    await using chain = await open(directory);
    const nested: { tools: string[] } = { tools: ["a"] };
    const appended = chain.append({ type: "a", ...nested, more: nested });
    nested.tools.push("b");
    await appended;
    expect(await entriesOf(directory)).toMatchObject([{ tools: ["a"], more: { tools: ["a"] } }]);
  });

  it("comes back as a copy: changing what was read changes nothing", async () => {
    const directory = await writeLog([{ type: "a", list: [1] }]);
    const [entry] = await entriesOf(directory);
    Object.assign(entry ?? {}, { type: "changed" });
    expect(await entriesOf(directory)).toMatchObject([{ type: "a" }]);
  });

  it("leaves out members that are undefined, and keeps null", async () => {
    expect(await entriesOf(await writeLog([{ type: "a", gone: undefined, kept: null }]))).toEqual([
      expect.objectContaining({ kept: null }),
    ]);
    expect(linesOf(await writeLog([{ type: "a", gone: undefined }]))[1]).not.toContain("gone");
  });
});

describe("an entry that is refused", () => {
  it.each<{ name: string; entry: EntryInput; code: string }>([
    { name: "an empty type", entry: { type: "" }, code: "ENTRY_INVALID" },
    { name: "a type in upper case", entry: { type: "Session.Open" }, code: "ENTRY_INVALID" },
    { name: "a type of 65 characters", entry: { type: "a".repeat(65) }, code: "ENTRY_INVALID" },
    { name: "an empty session", entry: { type: "a", session: "" }, code: "ENTRY_INVALID" },
    { name: "a session of 201 characters", entry: { type: "a", session: "s".repeat(201) }, code: "ENTRY_INVALID" },
    { name: "null", entry: JSON.parse("null"), code: "ENTRY_INVALID" },
    { name: "an array", entry: JSON.parse("[]"), code: "ENTRY_INVALID" },
    { name: "a type that is inherited", entry: Object.create({ type: "a" }), code: "ENTRY_INVALID" },
    ...["seq", "time", "prev", "hash", "clock"].map((name) => ({
      name: `a member ${name}`,
      entry: { type: "a", [name]: "x" },
      code: "ENTRY_INVALID",
    })),
    { name: "a number that is not finite", entry: { type: "a", n: Number.NaN }, code: "NOT_I_JSON" },
    { name: "an integer beyond 2^53", entry: { type: "a", n: 2 ** 60 }, code: "NOT_I_JSON" },
    { name: "a lone surrogate", entry: { type: "a", text: "\ud800" }, code: "NOT_I_JSON" },
    {
      name: "nine levels",
      entry: { type: "a", deep: JSON.parse(`${"[".repeat(9)}${"]".repeat(9)}`) },
      code: "NOT_I_JSON",
    },
    { name: "a member __proto__", entry: JSON.parse('{"type":"a","__proto__":1}'), code: "NOT_I_JSON" },
    { name: "a nested member __proto__", entry: JSON.parse('{"type":"a","b":{"__proto__":1}}'), code: "NOT_I_JSON" },
    { name: "65,536 bytes", entry: { type: "a", text: "x".repeat(65_536) }, code: "ENTRY_TOO_LARGE" },
  ])("for $name leaves no trace, and the chain goes on", async ({ entry, code }) => {
    const directory = logFolder();
    await using chain = await open(directory);
    await chain.append({ type: "before" });
    const head = chain.head;
    expect(await rejection(chain.append(entry))).toMatchObject({ name: "ChainError", code });
    expect(chain.head).toEqual(head);
    await chain.append({ type: "after" });
    expect((await entriesOf(directory)).map(({ seq, type }) => [seq, type])).toEqual([
      [1, "before"],
      [2, "after"],
    ]);
  });

  it("does not begin a segment either", async () => {
    const directory = logFolder();
    await using chain = await open(directory, { maxSegmentBytes: 131_072 });
    await chain.append({ type: "a", text: "x".repeat(65_000) });
    await chain.append({ type: "a", text: "x".repeat(65_000) });
    await rejection(chain.append({ type: "a", text: "x".repeat(65_536) }));
    await chain.flush();
    expect(segmentsOf(directory)).toHaveLength(2);
    await chain.append({ type: "b" });
    expect((await entriesOf(directory)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  it("is an entry of 65,535 bytes not", async () => {
    const directory = logFolder();
    await using chain = await open(directory);
    const frame = `{"prev":"${"0".repeat(64)}","seq":1,"text":"","time":"2026-01-02T03:04:05.000Z","type":"a"}`;
    await chain.append({ type: "a", text: "x".repeat(65_535 - frame.length) });
    expect(linesOf(directory)[1]).toHaveLength(65_619);
  });
});

describe("segments", () => {
  it("are named for their first entry, linked, and limited in size", async () => {
    const entries = Array.from({ length: 40 }, (_, index) => ({ type: "a", text: "x".repeat(10_000), index }));
    const directory = await writeLog(entries, { maxSegmentBytes: 131_072 });
    const names = segmentsOf(directory);
    expect(names.length).toBeGreaterThan(3);
    for (const [index, name] of names.entries()) {
      expect(statSync(join(directory, name)).size).toBeLessThanOrEqual(131_072);
      const begin = JSON.parse(linesOf(directory, index)[0] ?? "").begin;
      expect(begin).toMatchObject({
        format: 1,
        algorithm: "sha256",
        logId: "log",
        segment: index + 1,
        seq: Number(name.slice(0, 16)),
      });
      const before = index === 0 ? "0".repeat(64) : (linesOf(directory, index - 1).at(-1) ?? "").slice(-66, -2);
      expect(begin.prev).toBe(before);
    }
    expect((await entriesOf(directory)).map(({ index }) => index)).toEqual(entries.map(({ index }) => index));
  });

  it("roll over inside one turn as well", async () => {
    const directory = logFolder();
    await using chain = await open(directory, { maxSegmentBytes: 131_072, durability: "each" });
    const texts = Array.from({ length: 20 }, (_, index) => ({ type: "a", index, text: "x".repeat(60_000) }));
    const receipts = await Promise.all(texts.map((entry) => chain.append(entry)));
    expect(receipts.map(({ sequence }) => sequence)).toEqual(texts.map(({ index }) => index + 1));
    expect((await entriesOf(directory)).length).toBe(20);
  });

  it("and the folder are the owner's alone", async () => {
    const directory = await writeLog([{ type: "a" }]);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const name of segmentsOf(directory)) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, "lock-1")).mode & 0o777).toBe(0o600);
  });
});

describe("a chain", () => {
  it("goes on where it was closed, in the same segment", async () => {
    const directory = await writeLog([{ type: "a" }]);
    await writeLog([{ type: "b" }], { directory });
    expect(segmentsOf(directory)).toHaveLength(1);
    expect((await entriesOf(directory)).map(({ seq, type }) => [seq, type])).toEqual([
      [1, "a"],
      [2, "b"],
    ]);
  });

  it("says where it stands before the first entry", async () => {
    const directory = logFolder();
    await using chain = await open(directory);
    expect(chain.head).toEqual({ sequence: 0, hash: linesOf(directory)[0]?.slice(-66, -2) });
    expect(chain.logId).toBe("log");
    expect(chain.recovered).toBeUndefined();
  });

  it.each(["each", "batch", "none"] as const)("closes once, however often it is asked (%s)", async (durability) => {
    const directory = logFolder();
    const chain = await open(directory, { durability });
    const last = chain.append({ type: "a" });
    const closing = [chain.close(), chain.close(), chain[Symbol.asyncDispose]()];
    expect(new Set(closing).size).toBe(1);
    expect(await rejection(chain.append({ type: "b" }))).toMatchObject({ code: "CHAIN_CLOSED" });
    expect(await rejection(chain.flush())).toMatchObject({ code: "CHAIN_CLOSED" });
    await Promise.all(closing);
    expect(await last).toMatchObject({ sequence: 1 });
    expect((await entriesOf(directory)).map(({ type }) => type)).toEqual(["a"]);
  });

  it("ends a wait by its signal, with the signal's reason, and keeps the entry", async () => {
    const directory = logFolder();
    await using chain = await open(directory, { durability: "each" });
    const controller = new AbortController();
    const waiting = chain.append({ type: "a" }, { signal: controller.signal });
    const flushing = chain.flush({ signal: controller.signal });
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await rejection(waiting)).toBe(reason);
    expect(await rejection(flushing)).toBe(reason);
    expect(await rejection(chain.append({ type: "b" }, { signal: controller.signal }))).toBe(reason);
    await chain.flush();
    expect((await entriesOf(directory)).map(({ type }) => type)).toEqual(["a"]);
  });

  it("takes no more than maxWaiting entries that wait for a sync", async () => {
    const directory = logFolder();
    await using chain = await open(directory, { durability: "each", maxWaiting: 2 });
    const taken = [chain.append({ type: "a" }), chain.append({ type: "b" })];
    expect(await rejection(chain.append({ type: "c" }))).toMatchObject({ code: "CHAIN_BUSY" });
    await Promise.all(taken);
    expect(await chain.append({ type: "d" })).toMatchObject({ sequence: 3 });
  });

  it("writes before it has gathered much more than a MiB, though the turn goes on", async () => {
    const directory = logFolder();
    await using chain = await open(directory);
    const appended = Array.from({ length: 40 }, () => chain.append({ type: "a", text: "x".repeat(60_000) }));
    expect(statSync(join(directory, segmentsOf(directory)[0] ?? "")).size).toBeGreaterThan(1_048_576);
    await Promise.all(appended);
  });
});

describe("options", () => {
  const now = tickingClock();
  it.each<{ name: string; options: object }>([
    { name: "an unknown one", options: { durabilty: "each" } },
    { name: "an unknown durability", options: { durability: "always" } },
    { name: "a segment limit that an entry would not fit", options: { maxSegmentBytes: 1_000 } },
    { name: "a fraction", options: { syncMs: 1.5 } },
    { name: "an entry limit above the verifier's", options: { maxEntryBytes: 65_536 } },
    { name: "an id with a slash", options: { logId: "a/b" } },
    { name: "an id that is a dot", options: { logId: ".." } },
    { name: "an empty directory", options: { directory: "" } },
  ])("refuse $name", async ({ options }) => {
    const directory = logFolder();
    expect(await rejection(open(directory, { now, ...options }))).toMatchObject({ code: "OPTIONS_INVALID" });
  });

  it("refuse a folder name that cannot be an id, unless one is given", async () => {
    const directory = join(logFolder(), "my log");
    expect(await rejection(open(directory))).toMatchObject({ code: "OPTIONS_INVALID" });
    await using chain = await open(directory, { logId: "mine" });
    expect(chain.logId).toBe("mine");
  });

  it("end the opening when their signal was aborted", async () => {
    const reason = new Error("no");
    expect(await rejection(open(logFolder(), { signal: AbortSignal.abort(reason) }))).toBe(reason);
  });

  it("name the system's error when a file stands where the folder should", async () => {
    const directory = await writeLog([{ type: "a" }]);
    const below = join(directory, segmentsOf(directory)[0] ?? "", "log");
    expect(await rejection(open(below))).toMatchObject({ code: "OPEN_FAILED", cause: { code: "ENOTDIR" } });
  });
});
