import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { verifyLog } from "../src/index.js";
import { verifyChain } from "../src/verify.js";
import { scratch, segmentsOf, sessionEntries, writeLog } from "./scratch.js";

const audit = (name: string): string => fileURLToPath(new URL(`../../../fixtures/audit/${name}`, import.meta.url));

/** Runs a script that imports nothing of ours. */
function python(name: string, ...args: string[]): { status: number | null; stdout: string } {
  const run = spawnSync("python3", ["-I", audit(name), ...args], { encoding: "utf8" });
  if (run.stderr !== "") throw new Error(run.stderr);
  return run;
}

const threeSegments = () =>
  writeLog(
    sessionEntries(26).map((entry) => (entry.type === "note" ? { ...entry, text: "x".repeat(10_000) } : entry)),
    { maxSegmentBytes: 131_072 },
  );

partTest("python3")(
  "a sound log is sound to a verifier that shares no code with its writer, with the same head",
  async () => {
    const directory = await threeSegments();
    expect(segmentsOf(directory)).toHaveLength(4);
    const ours = await verifyLog(directory, { strict: true });
    expect(ours).toMatchObject({ ok: true, entries: 30, segments: 4, logId: "log", problems: [], notices: [] });
    const { status, stdout } = python("verify_chain.py", directory);
    expect([status, JSON.parse(stdout)]).toEqual([
      0,
      { ok: true, entries: 30, head: ours.head?.hash, problems: [], torn: 0 },
    ]);
  },
);

describe("a log that someone else's script damaged is refused, and the entry named", () => {
  const one = (code: string, seq: number) => [{ code, seq }];
  // In the sequence of damage_chain.py's description. Entry 12 is a note in the second of four segments, which begin at 1, 10, 17 and 24.
  const rows: readonly { kind: string; found: { code: string; seq: number }[]; strictOnly?: boolean }[] = [
    { kind: "flip", found: one("HASH_MISMATCH", 12) },
    { kind: "flip-hash", found: one("HASH_MISMATCH", 12) },
    { kind: "edit", found: one("HASH_MISMATCH", 12) },
    { kind: "rehash", found: one("LINK_BROKEN", 13) },
    { kind: "delete", found: one("SEQUENCE_BROKEN", 13) },
    { kind: "repeat", found: one("SEQUENCE_BROKEN", 12) },
    {
      kind: "swap",
      found: [
        { code: "SEQUENCE_BROKEN", seq: 13 },
        { code: "SEQUENCE_BROKEN", seq: 12 },
        { code: "SEQUENCE_BROKEN", seq: 14 },
      ],
    },
    {
      kind: "insert",
      found: [
        { code: "LINE_MALFORMED", seq: 12 },
        { code: "SEQUENCE_BROKEN", seq: 12 },
      ],
    },
    { kind: "garbage", found: one("LINE_MALFORMED", 12) },
    {
      kind: "join",
      found: [
        { code: "HASH_MISMATCH", seq: 12 },
        { code: "SEQUENCE_BROKEN", seq: 14 },
      ],
    },
    {
      kind: "long",
      found: [
        { code: "LINE_TOO_LONG", seq: 12 },
        { code: "SEQUENCE_BROKEN", seq: 12 },
      ],
    },
    { kind: "duplicate-key", found: one("NOT_CANONICAL", 12), strictOnly: true },
    { kind: "loose", found: one("NOT_CANONICAL", 12), strictOnly: true },
    { kind: "clock", found: one("CLOCK_WRONG", 12) },
    { kind: "unended", found: one("TAIL_DAMAGED", 30) },
    { kind: "drop-segment", found: one("SEGMENT_MISSING", 10) },
    {
      kind: "swap-segments",
      found: [
        { code: "SEGMENT_MISPLACED", seq: 1 },
        { code: "SEGMENT_MISSING", seq: 1 },
        { code: "SEGMENT_MISPLACED", seq: 17 },
        { code: "SEGMENT_MISPLACED", seq: 17 },
        { code: "SEGMENT_MISSING", seq: 10 },
      ],
    },
    {
      kind: "foreign",
      found: [
        { code: "LOG_ID_MISMATCH", seq: 10 },
        { code: "LOG_ID_MISMATCH", seq: 17 },
        { code: "LOG_ID_MISMATCH", seq: 24 },
      ],
    },
  ];

  const check = async ({ kind, found, strictOnly }: (typeof rows)[number]): Promise<void> => {
    const directory = await threeSegments();
    const offsets = new Map(lineOffsets(directory).map(({ seq, offset }) => [seq, offset]));
    python("damage_chain.py", directory, kind, "12");
    const report = await verifyLog(directory, { strict: true });
    expect(report.ok).toBe(false);
    expect(report.problems.map(({ code, seq }) => ({ code, seq }))).toEqual(found);
    expect(report.problemCount).toBe(found.length);
    expect((await verifyLog(directory)).ok).toBe(strictOnly === true);
    const [first] = report.problems;
    if (first?.code === "HASH_MISMATCH") expect(first.offset).toBe(offsets.get(first.seq));
    // The other verifier sees it too, save for what it does not look at.
    const blind = strictOnly === true || kind === "clock";
    expect(python("verify_chain.py", directory).status === 0).toBe(blind || kind === "unended");
  };
  for (const row of rows) partTest("python3")(row.kind, () => check(row));

  partTest("python3")("renumber: a rewritten log is betrayed by its file names and its head only", async () => {
    const directory = await threeSegments();
    const before = await verifyLog(directory);
    python("damage_chain.py", directory, "renumber");
    const after = await verifyLog(directory, { strict: true });
    // Only the file names betray it, since the segments begin an entry earlier now.
    expect(after.problems.map(({ code }) => code)).toContain("SEGMENT_MISPLACED");
    expect(after.head?.hash).not.toBe(before.head?.hash);
  });

  partTest("python3")("torn: a last record that a crash cut is a notice, not a problem", async () => {
    const directory = await threeSegments();
    python("damage_chain.py", directory, "torn");
    const report = await verifyLog(directory, { strict: true });
    expect(report).toMatchObject({ ok: true, entries: 29, problems: [] });
    expect(report.notices.map(({ code, seq }) => ({ code, seq }))).toEqual([
      { code: "TORN_TAIL", seq: 30 },
      { code: "SESSION_UNCLOSED", seq: 1 },
    ]);
  });
});

function lineOffsets(directory: string): { seq: number; offset: number }[] {
  return segmentsOf(directory).flatMap((name) => {
    let offset = 0;
    return readFileSync(join(directory, name), "utf8")
      .split("\n")
      .map((line) => {
        const at = offset;
        offset += Buffer.byteLength(line) + 1;
        return { seq: Number(/"seq":(\d+)/.exec(line)?.[1]), offset: at };
      });
  });
}

describe("whole segments", () => {
  it("that are gone from the end are not missed: the head tells", async () => {
    const directory = await threeSegments();
    rmSync(join(directory, segmentsOf(directory).at(-1) ?? ""));
    const report = await verifyLog(directory);
    expect(report).toMatchObject({ ok: true, head: { sequence: 23 } });
    expect(report.notices.map(({ code }) => code)).toEqual(["SESSION_UNCLOSED", "INTENT_UNMATCHED"]);
  });

  it("that are gone from the beginning are missed", async () => {
    const directory = await threeSegments();
    rmSync(join(directory, segmentsOf(directory)[0] ?? ""));
    const report = await verifyLog(directory);
    expect(report.problems).toEqual([
      expect.objectContaining({ code: "SEGMENT_MISSING", seq: 1, segment: segmentsOf(directory)[0], offset: 0 }),
    ]);
  });

  it("under another name are found out", async () => {
    const directory = await threeSegments();
    const last = segmentsOf(directory).at(-1) ?? "";
    renameSync(join(directory, last), join(directory, "0000000000000099.jsonl"));
    expect((await verifyLog(directory)).problems).toMatchObject([{ code: "SEGMENT_MISPLACED" }]);
  });

  it("of another log with the same id are found out by their links", async () => {
    const [one, two] = [await threeSegments(), await threeSegments()];
    const [, second = ""] = segmentsOf(one);
    cpSync(join(two, second), join(one, second));
    expect((await verifyLog(one)).problems.map(({ code }) => code)).toContain("LINK_BROKEN");
  });
});

describe("sessions and calls", () => {
  const codes = async (entries: Parameters<typeof writeLog>[0]) => {
    const report = await verifyLog(await writeLog(entries), { strict: true });
    return {
      problems: report.problems.map(({ code, seq }) => `${code} ${seq}`),
      notices: report.notices.map(({ code, seq }) => `${code} ${seq}`),
    };
  };
  const openS = { type: "session.open", session: "s" };
  const closeS = { type: "session.close", session: "s" };

  it.each<{ name: string; entries: Parameters<typeof writeLog>[0]; problems?: string[]; notices?: string[] }>([
    { name: "a session and its calls in order", entries: sessionEntries(2) },
    { name: "entries without a session", entries: [{ type: "a" }] },
    {
      name: "two sessions at once, calls that overlap",
      entries: [
        openS,
        { type: "session.open", session: "t" },
        { type: "call.intent", session: "s" },
        { type: "call.intent", session: "t" },
        { type: "call.outcome", session: "s", intent: 3 },
        closeS,
        { type: "call.outcome", session: "t", intent: 4 },
        { type: "session.close", session: "t" },
      ],
    },
    { name: "a session opened again after it was closed", entries: [openS, closeS, openS, closeS] },
    { name: "a session that a crash left open", entries: [openS], notices: ["SESSION_UNCLOSED 1"] },
    {
      name: "an intent that a crash left without an outcome",
      entries: [openS, { type: "call.intent", session: "s" }],
      notices: ["SESSION_UNCLOSED 1", "INTENT_UNMATCHED 2"],
    },
    {
      name: "an intent without an outcome in a session that was closed",
      entries: [openS, { type: "call.intent", session: "s" }, closeS],
      notices: ["INTENT_UNMATCHED 2"],
    },
    {
      name: "an entry before its session",
      entries: [{ type: "a", session: "s" }, openS, closeS],
      problems: ["SESSION_NOT_OPEN 1"],
    },
    {
      name: "an entry after its session",
      entries: [openS, closeS, { type: "a", session: "s" }],
      problems: ["SESSION_NOT_OPEN 3"],
    },
    { name: "a session closed twice", entries: [openS, closeS, closeS], problems: ["SESSION_NOT_OPEN 3"] },
    { name: "a session opened twice", entries: [openS, openS, closeS], problems: ["SESSION_REOPENED 2"] },
    {
      name: "an outcome without an intent",
      entries: [{ type: "call.outcome" }],
      problems: ["OUTCOME_WITHOUT_INTENT 1"],
    },
    {
      name: "a second outcome of one intent",
      entries: [{ type: "call.intent" }, { type: "call.outcome", intent: 1 }, { type: "call.outcome", intent: 1 }],
      problems: ["OUTCOME_WITHOUT_INTENT 3"],
    },
    {
      name: "an outcome of another session's intent",
      entries: [
        openS,
        { type: "call.intent", session: "s" },
        { type: "session.open", session: "t" },
        { type: "call.outcome", session: "t", intent: 2 },
      ],
      problems: ["OUTCOME_WITHOUT_INTENT 4"],
      notices: ["SESSION_UNCLOSED 1", "INTENT_UNMATCHED 2", "SESSION_UNCLOSED 3"],
    },
    {
      name: "an outcome of an entry that is no intent",
      entries: [{ type: "a" }, { type: "call.outcome", intent: 1 }],
      problems: ["OUTCOME_WITHOUT_INTENT 2"],
    },
  ])("$name", async ({ entries, problems = [], notices = [] }) => {
    expect(await codes(entries)).toEqual({ problems, notices });
  });
});

describe("limits", () => {
  it("problems are listed up to maxFindings and counted beyond", async () => {
    const directory = await writeLog(Array.from({ length: 150 }, () => ({ type: "call.outcome", intent: 1 })));
    const report = await verifyLog(directory);
    // The first fault may explain those that follow, so brackets report one.
    expect([report.problems.length, report.problemCount]).toEqual([1, 1]);
    const intents = await writeLog(Array.from({ length: 150 }, () => ({ type: "call.intent" })));
    const open = await verifyLog(intents, { maxFindings: 7 });
    expect([open.ok, open.notices.length, open.noticeCount]).toEqual([true, 7, 150]);
    expect((await verifyLog(intents)).notices).toHaveLength(100);
  });

  it("open calls are tracked up to 100,000, and the report says when there are more", async () => {
    const entries = Array.from({ length: 100_010 }, () => ({ type: "call.intent" }));
    const directory = await writeLog([...entries, { type: "call.outcome", intent: 100_005 }]);
    const report = await verifyLog(directory);
    expect(report).toMatchObject({ ok: true, noticeCount: 100_001 });
    expect(report.notices[0]).toMatchObject({ code: "TRACKING_LIMIT", seq: 100_001 });
  }, 60_000);

  it.each([{ strcit: true }, { maxFindings: 0 }, { maxFindings: 10_001 }])(
    "options are checked: %o",
    async (options) => {
      await expect(verifyLog(await threeSegments(), options)).rejects.toMatchObject({ code: "OPTIONS_INVALID" });
    },
  );

  it("verification ends by its signal, with the signal's reason", async () => {
    const reason = new Error("enough");
    const verifying = verifyLog(await threeSegments(), { signal: AbortSignal.abort(reason) });
    await expect(verifying).rejects.toBe(reason);
  });
});

describe("elsewhere than in Node", () => {
  it("verifyChain takes an asynchronous SHA-256, and bytes from anywhere", async () => {
    const directory = await threeSegments();
    const segments = segmentsOf(directory).map((name) => ({
      name,
      chunks: new Blob([readFileSync(join(directory, name))]).stream(),
    }));
    const sha256 = async (bytes: Uint8Array) =>
      new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
    const report = await verifyChain({ segments, sha256, strict: true });
    expect(report).toMatchObject({ ok: true, entries: 30 });
    expect(report).toEqual(await verifyLog(directory, { strict: true }));
  });

  it("the entry /verify imports nothing of Node", async () => {
    const dist = fileURLToPath(new URL("../dist/", import.meta.url));
    const seen = new Set<string>();
    const visit = (name: string): void => {
      if (seen.has(name)) return;
      seen.add(name);
      const text = readFileSync(join(dist, name), "utf8");
      expect(text).not.toMatch(/["']node:|\bprocess\.|\bBuffer\b|\brequire\(/);
      for (const [, imported = ""] of text.matchAll(/(?:from|import)\s*\(?["']\.\/([^"']+)["']/g)) visit(imported);
    };
    visit("verify.js");
    expect(readdirSync(dist)).toContain("verify.js");
    expect(seen.size).toBeLessThanOrEqual(3);
  });
});

partTest("python3")("a pipe under a segment's name is refused and named, not waited for", async () => {
  const directory = await threeSegments();
  const [first = ""] = segmentsOf(directory);
  rmSync(join(directory, first));
  spawnSync("python3", ["-c", "import os, sys; os.mkfifo(sys.argv[1])", join(directory, first)]);
  const report = await verifyLog(directory);
  expect(report.problems[0]).toMatchObject({ code: "SEGMENT_REFUSED", seq: 1, segment: first });
});

it("an empty folder is an empty log", async () => {
  const folder = scratch();
  expect(await verifyLog(folder)).toMatchObject({ ok: true, entries: 0, head: null, notices: [{ code: "LOG_EMPTY" }] });
});
