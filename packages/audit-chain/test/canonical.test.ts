import { readFileSync } from "node:fs";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { canonicalText } from "../src/canonical.js";
import { canonicalJson, isChainError } from "../src/index.js";
import { scaledTest } from "./scratch.js";

const vectors = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/vectors/audit-chain/${name}`, import.meta.url), "utf8"));
/** The inner form of canonicalJson, for values that its type does not let through. */
const canonicalOf = (value: unknown): string => canonicalText(value, { maxDepth: 64 });
const { rows }: { rows: { ieee754: string; json: string; refused?: string }[] } = vectors("rfc8785-numbers.json");
const documents: {
  vectors: { name: string; input: string; outputHex: string }[];
} = vectors("rfc8785-documents.json");

const codeOf = (run: () => unknown): string | undefined => {
  try {
    run();
    return undefined;
  } catch (error) {
    return isChainError(error) ? error.code : "not a ChainError";
  }
};

describe("numbers of RFC 8785 Appendix B", () => {
  it.each(rows.filter(({ refused }) => refused === undefined))("$ieee754 is written $json", ({ ieee754, json }) => {
    expect(canonicalJson(Buffer.from(ieee754, "hex").readDoubleBE())).toBe(json);
  });
  it.each(rows.filter(({ refused }) => refused !== undefined))("$ieee754 is refused: $refused", ({ ieee754 }) => {
    expect(codeOf(() => canonicalJson(Buffer.from(ieee754, "hex").readDoubleBE()))).toBe("NOT_I_JSON");
  });
});

describe("documents of the reference implementation", () => {
  it.each(documents.vectors.filter(({ name }) => name !== "values"))("$name", ({ input, outputHex }) => {
    expect(Buffer.from(canonicalJson(JSON.parse(input))).toString("hex")).toBe(outputHex);
  });
  it("values, which holds 1E30 (refused), without that number", () => {
    const values = documents.vectors.find(({ name }) => name === "values");
    const [input, output] = [values?.input ?? "", Buffer.from(values?.outputHex ?? "", "hex").toString()];
    expect(codeOf(() => canonicalJson(JSON.parse(input)))).toBe("NOT_I_JSON");
    expect(canonicalJson(JSON.parse(input.replace("1E30, ", "")))).toBe(output.replace("1e+30,", ""));
  });
});

describe("what is not I-JSON is refused with a code", () => {
  const cycle: { [member: string]: unknown } = {};
  cycle["self"] = cycle;
  it.each<{ name: string; value: unknown }>([
    { name: "NaN", value: Number.NaN },
    { name: "an infinity", value: Number.POSITIVE_INFINITY },
    { name: "-0", value: -0 },
    { name: "2^53", value: 2 ** 53 },
    { name: "-2^53", value: -(2 ** 53) },
    { name: "a lone high surrogate", value: "a\ud800b" },
    { name: "a lone low surrogate", value: "\udc00" },
    { name: "surrogates in the wrong order", value: "\udc00\ud800" },
    { name: "a lone surrogate in a member name", value: { "\ud800": 1 } },
    { name: "a bigint", value: 1n },
    { name: "a function", value: () => 1 },
    { name: "a symbol", value: Symbol("s") },
    { name: "undefined", value: undefined },
    { name: "undefined in an array", value: [undefined] },
    { name: "a hole in an array", value: new Array(1) },
    { name: "a Date", value: new Date(0) },
    { name: "a Map", value: new Map() },
    { name: "an instance of a class", value: new (class Point {})() },
    { name: "a cycle", value: cycle },
    { name: "65 levels", value: JSON.parse(`${"[".repeat(65)}${"]".repeat(65)}`) },
  ])("$name", ({ value }) => {
    expect(codeOf(() => canonicalOf(value))).toBe("NOT_I_JSON");
  });
});

it("takes what is at the edge: 2^53 - 1, a surrogate pair, 64 levels, an object without prototype", () => {
  const bare = Object.assign(Object.create(null), { b: 1, a: [2 ** 53 - 1, "😂"], gone: undefined });
  expect(canonicalJson(bare)).toBe('{"a":[9007199254740991,"😂"],"b":1}');
  expect(canonicalJson(JSON.parse(`${"[".repeat(64)}${"]".repeat(64)}`))).toHaveLength(128);
});

it("orders member names by UTF-16 code units, not by code points", () => {
  expect(canonicalJson({ "\uff5e": 1, "\u{1f602}": 2 })).toBe('{"\u{1f602}":2,"\uff5e":1}');
});

it("keeps a member named __proto__, which the chain refuses in entries", () => {
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1},"b":1}');
});

it(
  "agrees with the canonicalize package on whatever it accepts, and with JSON.parse on what it means",
  scaledTest,
  () => {
    const json = fc.jsonValue({ stringUnit: "binary", maxDepth: 6 });
    const check = fc.property(json, (value) => {
      let text: string;
      try {
        text = canonicalOf(value);
      } catch (error) {
        expect(isChainError(error) && error.code).toBe("NOT_I_JSON");
        return;
      }
      expect(text).toBe(canonicalize(value));
      expect(JSON.parse(text)).toEqual(value);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    });
    fc.assert(check, { numRuns: scaledCount("canonical forms compared", 40_000) });
  },
);
