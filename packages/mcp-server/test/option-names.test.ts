import { describe, expect, it } from "vitest";
import { nearestName } from "../src/nearest-name.js";
import { checkOptions, kind } from "../src/option-check.js";

describe("a misspelled name", () => {
  it.each([
    ["autorize", "authorize"],
    ["tool", "tools"],
    ["outputShema", "outputSchema"],
    ["readonlyHint", "readOnlyHint"],
    ["websiteURL", "websiteUrl"],
    ["suport", "support"],
    ["ttl", "ttlMs"],
    ["stor", "store"],
    ["requred", "required"],
  ])("%s is told as %s", (given, meant) => {
    const known = "authorize tools resources outputSchema readOnlyHint websiteUrl support ttlMs store required name";
    expect(nearestName(given, known.split(" "))).toBe(meant);
  });

  it.each([["execute"], ["x"], [""], ["zzzzzz"]])("%j is like none", (given) => {
    expect(nearestName(given, ["handler", "name", "uri"])).toBeUndefined();
  });

  it("is refused in no time however long it is", () => {
    const long = "a".repeat(1_000_000);
    const kinds = { name: kind("anything", () => true) };
    expect(() => checkOptions({ [long]: 1 }, kinds)).toThrow("there is no option");
  });
});
