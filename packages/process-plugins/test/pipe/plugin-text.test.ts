import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { PluginLogLine } from "../../src/instance/instance.js";
import { cutBytes, escapeText, excerptOf } from "../../src/pipe/escape-text.js";
import { createLogGate } from "../../src/pipe/log-gate.js";
import { isTooDeep } from "../../src/pipe/nesting.js";
import { readStderrLines } from "../../src/pipe/stderr-lines.js";
import { handScheduler } from "./hand-scheduler.js";

it.each([
  { text: "\u001b[31mred\u0007", escaped: "\\u001b[31mred\\u0007" },
  { text: "a\u202eb\u2028c\u200b", escaped: "a\\u202eb\\u2028c\\u200b" },
  { text: "wörld ✓ 🚀", escaped: "wörld ✓ 🚀" },
  { text: "half \ud83d", escaped: "half \\ud83d" },
])("what could move a cursor or hide text is escaped: $escaped", ({ text, escaped }) => {
  expect(escapeText(text)).toBe(escaped);
});

it("an excerpt has at most 200 characters, whatever was written", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
      const excerpt = excerptOf(bytes);
      expect(excerpt.length).toBeLessThanOrEqual(200);
      expect(excerpt).not.toMatch(/[\p{Cc}\p{Cs}]/u);
    }),
  );
});

it("a text is cut to so many bytes, and no character is cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.integer({ min: 0, max: 60 }), (text, bytes) => {
      const cut = cutBytes(text, bytes);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytes);
      expect(text.startsWith(cut)).toBe(true);
      expect(Buffer.byteLength(cut)).toBeGreaterThan(Math.min(bytes, Buffer.byteLength(text)) - 4);
    }),
  );
});

it("levels are counted as JSON has them, brackets in strings are none", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 1, max: 6 }), (json, levels) => {
      expect(isTooDeep(Buffer.from(json), levels)).toBe(depthOf(JSON.parse(json)) > levels);
    }),
  );
  expect(isTooDeep(Buffer.from('{"a\\"[[[[":"]\\\\","b":[]}'), 2)).toBe(false);
});

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

it("of many lines in a second some are told, and how many were not as one line", () => {
  const told: PluginLogLine[] = [];
  const scheduler = handScheduler();
  const gate = createLogGate({
    onLog: (line) => void told.push(line),
    maxLineBytes: 100,
    maxLinesPerSecond: 3,
    scheduler,
  });
  for (let n = 0; n < 50_000; n += 1) gate.tell("log", "info", `line ${n}`);
  expect(told.map(({ text }) => text)).toEqual(["line 0", "line 1", "line 2"]);
  scheduler.pass(1_000);
  expect(told.at(-1)).toEqual({ from: "log", level: "warn", text: "49997 more lines in this second were left out" });
  gate.tell("stderr", "info", "later");
  expect(told.at(-1)?.text).toBe("later");
  expect(gate.lastStderr).toBe("later");
});

it("what was left out is told at the end, and so is how many notifications nobody knew", () => {
  const told: string[] = [];
  const scheduler = handScheduler();
  const gate = createLogGate({
    onLog: ({ text }) => void told.push(text),
    maxLineBytes: 100,
    maxLinesPerSecond: 1,
    scheduler,
  });
  gate.tell("log", "info", "x".repeat(200));
  gate.tell("log", "info", "more");
  for (let n = 0; n < 5; n += 1) gate.countUnknown();
  gate.close();
  expect(told).toEqual([
    "x".repeat(100),
    "it sent a notification that is for nobody",
    "1 more lines in this second were left out",
    "5 notifications of it were for nobody",
  ]);
});

it("lines of standard error are the same however its bytes come, each is cut, and all bytes are counted", async () => {
  const text = `one\r\ntwo ${"y".repeat(50)}\n\nlast ö`;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 30 }), async (sizes) => {
      const stream = new PassThrough();
      const lines: string[] = [];
      const reader = readStderrLines(stream, 20, (line) => void lines.push(line));
      let rest = Buffer.from(text);
      for (const size of [...sizes, rest.length]) {
        if (rest.length > 0) stream.write(rest.subarray(0, size));
        rest = rest.subarray(size);
      }
      stream.end();
      await new Promise((resolve) => stream.once("close", resolve));
      reader.close();
      expect(lines).toEqual(["one", `two ${"y".repeat(16)}`, "", "last ö"]);
      expect(reader.byteCount).toBe(Buffer.byteLength(text));
    }),
    { numRuns: 50 },
  );
});

it("a flood of standard error is counted without being read as text, and its last line is still whole", () => {
  const told: string[] = [];
  const scheduler = handScheduler();
  const gate = createLogGate({
    onLog: ({ text }) => void told.push(text),
    maxLineBytes: 50,
    maxLinesPerSecond: 2,
    scheduler,
  });
  const stream = new PassThrough();
  const reader = readStderrLines(stream, 50, (line) => gate.tell("stderr", "info", line), gate);
  for (const chunk of ["one\ntwo\nthr", "ee\n\n\nfour\nfi", "ve\n", "si"]) stream.emit("data", Buffer.from(chunk));
  scheduler.pass(1_000);
  stream.emit("data", Buffer.from("x\n"));
  reader.close();
  expect(told).toEqual(["one", "two", "5 more lines in this second were left out", "six"]);
});
