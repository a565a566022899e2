import {
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { verifyLog } from "../src/index.js";
import {
  entriesOf,
  linesOf,
  open,
  rejection,
  rewrite,
  scratch,
  segmentsOf,
  sessionEntries,
  writeLog,
} from "./scratch.js";

const last = (directory: string): string => join(directory, segmentsOf(directory).at(-1) ?? "");

describe("a torn last record", () => {
  it("is cut off wherever the tear is, reported, and written down; nothing else is lost", async () => {
    const whole = await writeLog([{ type: "a" }, { type: "b" }, { type: "c" }]);
    const bytes = readFileSync(last(whole));
    const kept = bytes.subarray(0, -1).lastIndexOf("\n") + 1;
    for (let length = kept + 1; length < bytes.length; length += 7) {
      const directory = await writeLog([{ type: "a" }, { type: "b" }, { type: "c" }]);
      truncateSync(last(directory), length);
      const before = await verifyLog(directory);
      expect(before).toMatchObject({ ok: true, entries: 2, notices: [{ code: "TORN_TAIL", seq: 3, offset: kept }] });
      const chain = await open(directory);
      const tail = { segment: "0000000000000001.jsonl", offset: kept, byteLength: length - kept };
      expect(chain.recovered).toEqual(tail);
      await chain.append({ type: "d" });
      await chain.close();
      const entries = await entriesOf(directory);
      expect(entries.map(({ type }) => type)).toEqual(["a", "b", "log.recovered", "d"]);
      expect(entries[2]).toMatchObject({ segment: tail.segment, offset: kept, droppedBytes: tail.byteLength });
      const after = await verifyLog(directory, { strict: true });
      expect(after).toMatchObject({ ok: true, entries: 4, notices: [{ code: "RECOVERED", seq: 3 }] });
    }
  });

  it("is dropped also when only its line feed is missing", async () => {
    const directory = await writeLog([{ type: "a" }, { type: "b" }]);
    truncateSync(last(directory), statSync(last(directory)).size - 1);
    await using chain = await open(directory);
    expect(chain.recovered?.byteLength).toBeGreaterThan(100);
    expect((await entriesOf(directory)).map(({ type }) => type)).toEqual(["a", "log.recovered"]);
  });

  it("may be the beginning of the first segment", async () => {
    for (const length of [0, 1, 9, 200]) {
      const directory = await writeLog([]);
      truncateSync(last(directory), length);
      expect(await verifyLog(directory)).toMatchObject({ ok: true, entries: 0, notices: [{ code: "TORN_TAIL" }] });
      await using chain = await open(directory);
      expect(chain.recovered?.byteLength ?? 0).toBe(length);
      await chain.append({ type: "a" });
      expect((await verifyLog(directory)).ok).toBe(true);
    }
  });

  it("may be the beginning of a later segment, whose number is then given again", async () => {
    for (const length of [0, 20]) {
      const entries = Array.from({ length: 20 }, () => ({ type: "a", text: "x".repeat(10_000) }));
      const directory = await writeLog(entries, { maxSegmentBytes: 131_072 });
      const [, second = ""] = segmentsOf(directory);
      for (const name of segmentsOf(directory).slice(2)) rmSync(join(directory, name));
      truncateSync(join(directory, second), length);
      await writeLog([{ type: "b" }, ...entries], { directory, maxSegmentBytes: 131_072 });
      const report = await verifyLog(directory, { strict: true });
      expect(report).toMatchObject({ ok: true, segments: segmentsOf(directory).length });
      expect(segmentsOf(directory)[1]).toBe(second);
    }
  });

  it("is not cut off while another writer holds the log", async () => {
    const directory = await writeLog([{ type: "a" }]);
    await using _holder = await open(directory);
    writeFileSync(last(directory), '{"entry":{"half', { flag: "a" });
    const { size } = statSync(last(directory));
    expect(await rejection(open(directory))).toMatchObject({ code: "LOCKED" });
    expect(statSync(last(directory)).size).toBe(size);
  });
});

describe("any other damage is refused at open, with its place, and left as it is", () => {
  const lineAt = (directory: string, index: number): number =>
    linesOf(directory)
      .slice(0, index)
      .reduce((offset, line) => offset + line.length + 1, 0);

  it.each<{ name: string; damage: (directory: string) => void; sequence: number; line: number; problem: string }>([
    {
      name: "a changed byte",
      damage: (directory) => rewrite(directory, (bytes) => Buffer.from(bytes.toString().replace('"seq":3', '"seq":4'))),
      sequence: 3,
      line: 3,
      problem: "HASH_MISMATCH",
    },
    {
      name: "a missing entry",
      damage: (directory) =>
        rewrite(directory, () =>
          Buffer.from(
            `${linesOf(directory)
              .filter((_, at) => at !== 2)
              .join("\n")}\n`,
          ),
        ),
      sequence: 3,
      line: 2,
      problem: "SEQUENCE_BROKEN",
    },
    {
      name: "an overwritten line feed at the end",
      damage: (directory) => rewrite(directory, (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.from(" ")])),
      sequence: 6,
      line: 6,
      problem: "TAIL_DAMAGED",
    },
    {
      name: "a tail that is no piece of a line",
      damage: (directory) => rewrite(directory, (bytes) => Buffer.concat([bytes, Buffer.from("hello")])),
      sequence: 7,
      line: 7,
      problem: "TAIL_DAMAGED",
    },
    {
      name: "a tail longer than a line can be",
      damage: (directory) =>
        rewrite(directory, (bytes) => Buffer.concat([bytes, Buffer.from('{"entry":'), Buffer.alloc(70_000, 0x61)])),
      sequence: 7,
      line: 7,
      problem: "TAIL_DAMAGED",
    },
    {
      name: "a hole of zeros",
      damage: (directory) => rewrite(directory, (bytes) => Buffer.from(bytes).fill(0, 500, 900)),
      sequence: 2,
      line: 2,
      problem: "LINE_MALFORMED",
    },
  ])("$name", async ({ damage, sequence, line, problem }) => {
    const directory = await writeLog(sessionEntries(2));
    const offset = lineAt(directory, line);
    damage(directory);
    const bytes = readFileSync(last(directory));
    const error = await rejection(open(directory));
    expect(error).toMatchObject({
      code: "LOG_DAMAGED",
      place: { segment: "0000000000000001.jsonl", offset, sequence },
    });
    expect(error).toHaveProperty("message", expect.stringContaining(problem));
    expect(readFileSync(last(directory))).toEqual(bytes);
  });

  it("a segment that is missing", async () => {
    const entries = Array.from({ length: 40 }, () => ({ type: "a", text: "x".repeat(10_000) }));
    const directory = await writeLog(entries, { maxSegmentBytes: 131_072 });
    rmSync(join(directory, segmentsOf(directory)[1] ?? ""));
    const error = await rejection(open(directory));
    expect(error).toMatchObject({ code: "LOG_DAMAGED", place: { segment: segmentsOf(directory)[1], offset: 0 } });
  });

  it("a segment that is a symbolic link", async () => {
    const directory = await writeLog([{ type: "a" }]);
    const elsewhere = join(scratch(), "elsewhere");
    renameSync(last(directory), elsewhere);
    symlinkSync(elsewhere, join(directory, "0000000000000001.jsonl"));
    expect(await rejection(open(directory))).toMatchObject({ code: "LOG_DAMAGED" });
  });

  it("leaves the log unlocked", async () => {
    const directory = await writeLog([{ type: "a" }]);
    const bytes = readFileSync(last(directory));
    rewrite(directory, () => Buffer.from("x\n"));
    await rejection(open(directory));
    rewrite(directory, () => bytes);
    await using chain = await open(directory);
    expect(chain.head.sequence).toBe(1);
  });
});

it("a log of another id is refused", async () => {
  const directory = await writeLog([{ type: "a" }], { logId: "one" });
  expect(await rejection(open(directory, { logId: "two" }))).toMatchObject({ code: "LOG_ID_MISMATCH" });
});

it("a segment with a second name is not written to, since whatever has that name would change too", async () => {
  const directory = await writeLog([{ type: "a" }]);
  linkSync(last(directory), join(scratch(), "backup"));
  expect(await rejection(open(directory))).toMatchObject({ code: "OPEN_FAILED" });
  expect((await verifyLog(directory)).ok).toBe(true);
});

it("reading back a long log can be ended by a signal, and leaves it unlocked", async () => {
  const directory = await writeLog(Array.from({ length: 2_000 }, () => ({ type: "a", text: "x".repeat(1_000) })));
  const controller = new AbortController();
  const opening = open(directory, { signal: controller.signal });
  const reason = new Error("enough");
  setImmediate(() => controller.abort(reason));
  expect(await rejection(opening)).toBe(reason);
  await using chain = await open(directory);
  expect(chain.head.sequence).toBe(2_000);
});
