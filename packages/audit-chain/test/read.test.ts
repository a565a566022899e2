import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Entry, readChain, verifyLog } from "../src/index.js";
import { startNode } from "./processes.js";
import {
  entriesOf,
  logFolder,
  open,
  rejection,
  rewrite,
  scratch,
  segmentsOf,
  sessionEntries,
  writeLog,
} from "./scratch.js";

const manySegments = () =>
  writeLog(
    Array.from({ length: 40 }, (_, index) => ({ type: "a", index, text: "x".repeat(10_000) })),
    { maxSegmentBytes: 131_072 },
  );

describe("reading", () => {
  it("gives every entry in order, with its hash and its link", async () => {
    const directory = await manySegments();
    const entries = await entriesOf(directory);
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
    expect(entries.map(({ hash }) => hash)).toEqual(storedBodies(directory).map((body) => sha256(body)));
    const linked = entries.filter((entry, index) => entry.prev === entries[index - 1]?.hash);
    // The first entry of each segment links to the segment's beginning instead.
    expect(linked.length).toBeGreaterThan(30);
  });

  it.each([0, 1, 2, 12, 13, 14, 27, 40, 41, 1_000])(
    "starts at any entry (%d), whatever segment it is in",
    async (from) => {
      const entries = await entriesOf(await manySegments(), { from });
      expect(entries.map(({ seq }) => seq)).toEqual(
        Array.from({ length: 40 }, (_, index) => index + 1).filter((sequence) => sequence >= from),
      );
    },
  );

  it.each<{ name: string; options: object }>([
    { name: "a misspelled option", options: { form: 3 } },
    { name: "a start that is no number", options: { from: Number.NaN } },
    { name: "a start below 0", options: { from: -1 } },
  ])("refuses $name", async ({ options }) => {
    expect(await rejection(entriesOf(await writeLog([]), options))).toMatchObject({ code: "OPTIONS_INVALID" });
  });

  it("ends before a torn tail", async () => {
    const directory = await writeLog([{ type: "a" }, { type: "b" }]);
    const path = join(directory, segmentsOf(directory)[0] ?? "");
    truncateSync(path, statSync(path).size - 5);
    expect((await entriesOf(directory)).map(({ type }) => type)).toEqual(["a"]);
  });

  it("keeps members that would be traps: __proto__ cannot be there, constructor is only a member", async () => {
    const [entry] = await entriesOf(await writeLog([{ type: "a", constructor: "c", toString: "t" }]));
    expect(Object.getPrototypeOf(entry)).toBe(Object.prototype);
    expect(entry).toMatchObject({ constructor: "c", toString: "t" });
  });

  it("stops at damage, with its place", async () => {
    const directory = await writeLog(sessionEntries(3));
    rewrite(directory, (bytes) => Buffer.from(bytes.toString().replace("note 1", "note 7")));
    const seen: number[] = [];
    const reading = (async () => {
      for await (const { seq } of readChain(directory)) seen.push(seq);
    })();
    expect(await rejection(reading)).toMatchObject({
      code: "LOG_DAMAGED",
      place: { segment: "0000000000000001.jsonl", sequence: 4 },
    });
    expect(seen).toEqual([1, 2, 3]);
  });

  it("says so when there is no folder, and refuses a segment that is a symbolic link", async () => {
    expect(await rejection(entriesOf(logFolder()))).toMatchObject({ code: "READ_FAILED" });
    const directory = await writeLog([{ type: "a" }]);
    const elsewhere = join(scratch(), "elsewhere");
    const path = join(directory, segmentsOf(directory)[0] ?? "");
    renameSync(path, elsewhere);
    symlinkSync(elsewhere, path);
    expect(await rejection(entriesOf(directory))).toMatchObject({ code: "READ_FAILED" });
  });

  it("ends by its signal, with the signal's reason", async () => {
    const reason = new Error("enough");
    const reading = entriesOf(await manySegments(), { signal: AbortSignal.abort(reason) });
    expect(await rejection(reading)).toBe(reason);
  });
});

describe("following", () => {
  it("gives what is there and then what comes, over segments, until the signal", async () => {
    const directory = logFolder();
    const chain = await open(directory, { maxSegmentBytes: 131_072 });
    await chain.append({ type: "a", index: 0 });
    const controller = new AbortController();
    const seen: unknown[] = [];
    const reason = new Error("enough");
    const following = (async () => {
      for await (const { index } of readChain(directory, { follow: true, signal: controller.signal })) {
        seen.push(index);
        const next = seen.length;
        if (next < 30) await chain.append({ type: "a", index: next, text: "x".repeat(20_000) });
        else controller.abort(reason);
      }
    })();
    expect(await rejection(following)).toBe(reason);
    expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => index));
    expect(segmentsOf(directory).length).toBeGreaterThan(3);
    await chain.close();
  });

  it("waits for the rest of a line that is half there, and takes it when it was cut off and written anew", async () => {
    const directory = await writeLog([{ type: "a" }, { type: "b" }]);
    const path = join(directory, segmentsOf(directory)[0] ?? "");
    const bytes = readFileSync(path);
    const half = bytes.subarray(0, -1).lastIndexOf("\n") + 40;
    truncateSync(path, half);
    const controller = new AbortController();
    const seen: Entry[] = [];
    const following = (async () => {
      for await (const entry of readChain(directory, { follow: true, signal: controller.signal })) {
        seen.push(entry);
        if (seen.length === 1) {
          const recovered = await open(directory);
          await recovered.append({ type: "c" });
          await recovered.close();
        }
        if (entry.type === "c") controller.abort();
      }
    })();
    await rejection(following);
    expect(seen.map(({ type }) => type)).toEqual(["a", "log.recovered", "c"]);
  });

  it("from beyond the end waits for that entry", async () => {
    const directory = logFolder();
    await using chain = await open(directory);
    const reading = readChain(directory, { from: 3, follow: true, signal: AbortSignal.timeout(20_000) });
    const next = reading.next();
    for (const type of ["a", "b", "c"]) await chain.append({ type });
    expect((await next).value).toMatchObject({ seq: 3, type: "c" });
    await reading.return();
  });
});

describe("beside a live writer in another process", () => {
  it("reading and verifying see whole entries only, again and again, and take no lock", async () => {
    const directory = logFolder();
    const writer = startNode("writer.mjs", [directory, "batch", "5000", "300"]);
    await writer.line((line) => line.startsWith("ack"));
    let last = 0;
    for (let look = 0; look < 8; look += 1) {
      const report = await verifyLog(directory, { strict: true });
      expect(report.problems).toEqual([]);
      const entries = await entriesOf(directory);
      expect(entries.length).toBeGreaterThanOrEqual(report.entries);
      expect(report.entries).toBeGreaterThanOrEqual(last);
      last = report.entries;
    }
    writer.child.kill("SIGKILL");
    await writer.ended;
    expect(last).toBeGreaterThan(0);
  });

  it("following one sees all that it acknowledged before it was killed", async () => {
    const directory = logFolder();
    const writer = startNode("writer.mjs", [directory, "batch", "0", "300"]);
    await writer.line((line) => line.startsWith("ack"));
    const controller = new AbortController();
    const seen = new Map<number, string>();
    let enough = false;
    for await (const { seq, hash } of readChain(directory, { follow: true, signal: controller.signal })) {
      seen.set(seq, hash);
      if (seq === 500) writer.child.kill("SIGKILL");
      if (seq < 500 || enough) continue;
      await writer.ended;
      enough = true;
      break;
    }
    for (const { seq, hash } of await entriesOf(directory, { from: seen.size + 1 })) seen.set(seq, hash);
    for (const line of writer.lines.filter((said) => said.startsWith("ack"))) {
      const [, sequence, hash] = line.split(" ");
      expect(seen.get(Number(sequence))).toBe(hash);
    }
  });
});

it("a folder that is watched and removed ends in READ_FAILED, not in silence", async () => {
  const directory = await writeLog([{ type: "a" }]);
  const reading = readChain(directory, { follow: true, signal: AbortSignal.timeout(20_000) });
  expect((await reading.next()).value).toMatchObject({ seq: 1 });
  const next = reading.next();
  renameSync(directory, `${directory}-moved`);
  writeFileSync(join(`${directory}-moved`, "touched"), "");
  expect(await rejection(next)).toMatchObject({ code: "READ_FAILED" });
});

/** What the entries' hashes are over, cut out of the files by the README's words: between `{"entry":` and `,"hash":`. */
function storedBodies(directory: string): readonly string[] {
  const segments = readdirSync(directory).filter((name) => name.endsWith(".jsonl"));
  const lines = segments.sort().flatMap((name) => readFileSync(join(directory, name), "utf8").split("\n"));
  return lines.flatMap((line) => /^\{"entry":(.*),"hash":"[0-9a-f]{64}"\}$/u.exec(line)?.[1] ?? []);
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
