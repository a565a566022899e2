// The log reader's share of the million generated inputs: whatever the bytes are, it ends, throws nothing but its own
// errors, keeps to its memory, and calls no log sound that the writer did not write.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { type Finding, isChainError } from "../src/index.js";
import { lineText } from "../src/line.js";
import { sha256, sha256Hex } from "../src/sha256.js";
import { verifyChain } from "../src/verify.js";
import { clearScratch, entriesOf, open, scaledTest, scratch, segmentsOf, sessionEntries, writeLog } from "./scratch.js";

let lines: string[] = [];

beforeAll(async () => {
  const directory = await writeLog(sessionEntries(4));
  lines = readFileSync(join(directory, segmentsOf(directory)[0] ?? ""), "utf8")
    .split("\n")
    .slice(0, -1);
});

/** A line whose hash fits, around any body: what a forger could write. */
const sealed = (kind: "begin" | "entry", body: string): string => lineText(kind, body, sha256Hex(body)).slice(0, -1);

const member = fc.constantFrom(
  "seq",
  "prev",
  "time",
  "type",
  "session",
  "clock",
  "intent",
  "hash",
  "__proto__",
  "format",
  "segment",
  "logId",
  "algorithm",
);
const value = fc.oneof(
  fc.constantFrom<unknown>(
    1,
    2,
    3,
    -1,
    0,
    1.5,
    2 ** 53,
    1e308,
    "",
    "0".repeat(64),
    "2026-01-02T03:04:05.000Z",
    "session.open",
    "call.outcome",
    null,
    true,
  ),
  fc.jsonValue({ maxDepth: 3 }),
);
const forgedBody = fc
  .tuple(
    fc.dictionary(member, value, { noNullPrototype: true }),
    fc.constantFrom('{"format":1,"algorithm":"sha256"', "{}", '{"type":"a","seq":1'),
  )
  .map(([members, start]) =>
    start === "{}" ? JSON.stringify(members) : `${start},${JSON.stringify(members).slice(1)}`,
  );
const deepBody = fc
  .oneof(fc.integer({ min: 1, max: 2_000 }), fc.constant(32_700))
  .map((depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`);

const piece = fc.oneof(
  { weight: 30, arbitrary: fc.nat().map((index) => lines[index % lines.length] ?? "") },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom("begin" as const, "entry" as const), forgedBody)
      .map(([kind, body]) => sealed(kind, body)),
  },
  { weight: 1, arbitrary: deepBody.map((body) => sealed("entry", body)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(), fc.nat(), fc.string())
      .map(([index, at, text]) => spliced(lines[index % lines.length] ?? "", at, text)),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '{"entry":',
      '{"begin":',
      ',"hash":"',
      "}",
      "",
      "\0\0\0\0",
      "\ufeff",
      '{"entry":{},"hash":"',
    ),
  },
);

function spliced(line: string, at: number, text: string): string {
  const place = at % (line.length + 1);
  return line.slice(0, place) + text + line.slice(place + text.length);
}

/** Bytes of a segment: pieces, mostly but not always ended by line feeds, and sometimes raw bytes. */
const segment = fc
  .tuple(
    fc.array(fc.tuple(piece, fc.constantFrom("\n", "\n", "\n", "\n", "", "\r\n")), { maxLength: 14 }),
    fc.boolean(),
    fc.uint8Array({ maxLength: 60 }),
  )
  .map(([parts, ordered, raw]) =>
    Buffer.concat([
      Buffer.from(
        (ordered
          ? lines
              .slice(0, 5)
              .map((line) => `${line}\n`)
              .join("")
          : "") + parts.map(([text, end]) => text + end).join(""),
      ),
      raw,
    ]),
  );

const log = fc.array(segment, { minLength: 1, maxLength: 3 });
const chunkSize = fc.constantFrom(1, 7, 64, 4_096, 1_000_000);

const cut = function* (bytes: Buffer, size: number): Generator<Uint8Array> {
  // Byte by byte only as long as that is quick: how bytes are cut is the matter of another property.
  const step = bytes.length > 5_000 ? Math.max(size, 64) : size;
  for (let from = 0; from < bytes.length; from += step) yield bytes.subarray(from, from + step);
};

it("the verifier ends with a report on any input, in the bounds of its promises", scaledTest, async () => {
  const runs = scaledCount("inputs to the log reader", 250_000);
  const check = fc.asyncProperty(
    log,
    chunkSize,
    fc.boolean(),
    fc.boolean(),
    async (segments, size, strict, partial) => {
      const report = await verifyChain({
        segments: segments.map((bytes, index) => ({
          name: `${String(index + 1).padStart(16, "0")}.jsonl`,
          chunks: cut(bytes, size),
        })),
        sha256,
        strict,
        partial,
        maxFindings: 5,
      });
      expect(report.ok).toBe(report.problemCount === 0);
      expect(report.problems.length).toBe(Math.min(5, report.problemCount));
      const total = segments.reduce((sum, bytes) => sum + bytes.length, 0);
      // Nothing from the log but numbers, times and checked names may reach a terminal.
      const isPlain = ({ seq, offset, message }: Finding<string>): boolean =>
        Number.isSafeInteger(seq) && seq >= 1 && offset >= 0 && offset <= total && /^[ -~]{1,400}$/.test(message);
      expect([...report.problems, ...report.notices].filter((finding) => !isPlain(finding))).toEqual([]);
      expect(report.entries).toBeLessThanOrEqual(total / 84);
    },
  );
  await fc.assert(check, { numRuns: runs });
});

it("reading and opening such a log end with entries or with an error of this package", scaledTest, async () => {
  const runs = scaledCount("inputs to reading and opening", 10_000);
  const check = fc.asyncProperty(log, async (segments) => {
    const directory = join(scratch(), "log");
    mkdirSync(directory);
    for (const [index, bytes] of segments.entries()) {
      writeFileSync(join(directory, `${String(index * 5 + 1).padStart(16, "0")}.jsonl`), bytes);
    }
    try {
      await entriesOf(directory);
    } catch (error) {
      expect(isChainError(error) && error.code).toBe("LOG_DAMAGED");
    }
    try {
      const chain = await open(directory);
      await chain.append({ type: "after" });
      await chain.close();
    } catch (error) {
      expect(isChainError(error) && ["LOG_DAMAGED", "LOG_ID_MISMATCH"].includes(error.code)).toBe(true);
    }
  });
  await fc.assert(check.afterEach(clearScratch), { numRuns: runs });
});
