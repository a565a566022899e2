// Lines whose hash and link fit, as someone writes them who can compute SHA-256: what is in them is still checked.
import { describe, expect, it } from "vitest";
import { sha256 } from "../src/sha256.js";
import { verifyChain } from "../src/verify.js";

const zeros = "0".repeat(64);
const time = "2026-01-02T03:04:05.000Z";
const hex = (bytes: Uint8Array): string => Buffer.from(sha256(bytes)).toString("hex");

const begin = (changes: object = {}, extra = ""): string => {
  const record = { algorithm: "sha256", format: 1, logId: "log", prev: zeros, segment: 1, seq: 1, time, ...changes };
  return JSON.stringify(record).replace(/\}$/, `${extra}}`);
};

/** A segment: a beginning, then bodies that get the link to the line before where they say LINK. */
function segmentOf(first: string, bodies: readonly (string | Buffer)[]): Buffer {
  let prev = hex(Buffer.from(first));
  const lines = [Buffer.from(`{"begin":${first},"hash":"${prev}"}\n`)];
  for (const body of bodies) {
    const bytes = typeof body === "string" ? Buffer.from(body.replace("LINK", prev)) : body;
    prev = hex(bytes);
    lines.push(Buffer.concat([Buffer.from('{"entry":'), bytes, Buffer.from(`,"hash":"${prev}"}\n`)]));
  }
  return Buffer.concat(lines);
}

async function codes(first: string, bodies: readonly (string | Buffer)[], strict = false): Promise<string[]> {
  const segments = [{ name: "0000000000000001.jsonl", chunks: [segmentOf(first, bodies)] }];
  const report = await verifyChain({ segments, sha256, strict });
  return report.problems.map(({ code, seq }) => `${code} ${seq}`);
}

const entry = (middle = ""): string => `{"prev":"LINK","seq":1,${middle}"time":"${time}","type":"a"}`;

it("the forger's own form is good: a plain entry passes, also strictly", async () => {
  expect(await codes(begin(), [entry()], true)).toEqual([]);
});

describe("an entry is refused", () => {
  it.each<{ name: string; body: string | Buffer }>([
    { name: "that is an array", body: "[1]" },
    { name: "that is null", body: "null" },
    { name: "that is not JSON", body: `{"prev":"LINK","seq":1,}` },
    { name: "that is two values", body: `${entry()} {}` },
    { name: "without a type", body: `{"prev":"LINK","seq":1,"time":"${time}"}` },
    { name: "with a type of another form", body: entry().replace('"a"', '"A b"') },
    { name: "with a number that is a text", body: entry().replace('"seq":1', '"seq":"1"') },
    { name: "with the number 0", body: entry().replace('"seq":1', '"seq":0') },
    { name: "with a number beyond 2^53", body: entry().replace('"seq":1', '"seq":9007199254740993') },
    { name: "with a time of another form", body: entry().replace(".000Z", "Z") },
    { name: "with a time that is none", body: entry().replace("-01-02T", "-13-02T") },
    { name: "with a time east of Greenwich", body: entry().replace("000Z", "000+01:00") },
    { name: "with a link that is too short", body: entry().replace("LINK", "abc") },
    { name: "with a session that is too long", body: entry(`"session":"${"s".repeat(201)}",`) },
    { name: "with a session that is a number", body: entry('"session":1,') },
    { name: "with an unknown word about the clock", body: entry().replace("{", '{"clock":"fine",') },
    { name: "with a member hash, which readers take from the line", body: entry('"hash":"x",') },
    { name: "with a member __proto__", body: entry().replace("{", '{"__proto__":{"ok":true},') },
    { name: "with bytes that are no UTF-8", body: Buffer.from(entry('"text":"\u00ff",'), "latin1") },
    { name: "with a byte order mark", body: `\ufeff${entry()}` },
    { name: "that nests 32,000 levels and nothing else", body: `${"[".repeat(32_000)}${"]".repeat(32_000)}` },
  ])("$name", async ({ body }) => {
    expect(await codes(begin(), [body])).toEqual(["ENTRY_MALFORMED 1"]);
  });
});

describe("strictly, an entry is refused", () => {
  const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
  it.each([
    { name: "with members in another order", body: `{"seq":1,"prev":"LINK","time":"${time}","type":"a"}` },
    { name: "with a space", body: entry().replace(":", ": ") },
    { name: "with a member twice", body: entry('"seq":1,') },
    { name: "with a number spelled otherwise", body: entry().replace('"seq":1', '"seq":1.0') },
    { name: "with an escape that need not be", body: entry().replace('"a"', '"\\u0061"') },
    { name: "with a lone surrogate", body: entry('"text":"\\ud800",') },
    { name: "with -0", body: entry().replace("{", '{"n":-0,') },
    { name: "with an integer beyond 2^53", body: entry().replace("{", '{"n":9007199254740993,') },
    { name: "with a nested member __proto__", body: entry().replace("{", '{"n":{"__proto__":1},') },
    { name: "that nests 30,000 levels", body: entry().replace("{", `{"n":${deep},`) },
  ])("$name", async ({ body }) => {
    expect(await codes(begin(), [body], true)).toEqual(["NOT_CANONICAL 1"]);
  });
});

describe("the beginning of a segment is refused", () => {
  it.each([
    { name: "with another format, which is not guessed at", first: begin({ format: 2 }), expected: "FORMAT_UNKNOWN 1" },
    { name: "with another algorithm", first: begin({ algorithm: "sha1" }), expected: "BEGIN_MALFORMED 1" },
    { name: "without a format", first: begin({ format: undefined }), expected: "BEGIN_MALFORMED 1" },
    { name: "with a member more", first: begin({ zzz: 1 }), expected: "BEGIN_MALFORMED 1" },
    { name: "with an id that could be a path", first: begin({ logId: "../x" }), expected: "BEGIN_MALFORMED 1" },
    { name: "that is no object", first: "[]", expected: "BEGIN_MALFORMED 1" },
    { name: "with a link, though it is the first", first: begin({ prev: "1".repeat(64) }), expected: "LINK_BROKEN 1" },
    { name: "that is a later one", first: begin({ segment: 2 }), expected: "SEGMENT_MISSING 1" },
    { name: "with a member twice (strictly)", first: begin({}, `,"time":"${time}"`), expected: "NOT_CANONICAL 1" },
  ])("$name", async ({ first, expected }) => {
    expect((await codes(first, [entry()], true))[0]).toBe(expected);
  });
});

it("what has the form of a whole line inside an entry is not taken for one", async () => {
  const inner = `{"entry":{"x":1},"hash":"${zeros}"}`;
  const bodies = [entry(`"text":${JSON.stringify(`${inner}\n${inner}`)},`)];
  expect(await codes(begin(), bodies)).toEqual([]);
  // Cut behind the inner one: the tail begins as a line, holds the form of one, and its hash does not fit.
  const nested = `{"a":{"n":{"x":1},"hash":"${zeros}"},"prev":"LINK","seq":1,"time":"${time}","type":"a"}`;
  const whole = segmentOf(begin(), [nested]);
  const cut = whole.subarray(0, whole.indexOf(zeros, 300) + 80);
  const report = await verifyChain({ segments: [{ name: "x", chunks: [cut] }], sha256 });
  expect([report.ok, report.notices.map(({ code }) => code)]).toEqual([true, ["TORN_TAIL"]]);
});
