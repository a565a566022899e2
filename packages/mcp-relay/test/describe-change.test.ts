import { describe, expect, it } from "vitest";
import { describeDefinitionChange, describeTextChange } from "../src/index.js";

describe("the description of a change", () => {
  it("names each member that was added, removed or changed", () => {
    const before = '{"name":"a","title":"A","annotations":{"readOnlyHint":true}}';
    const after = '{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}}';
    expect(describeDefinitionChange(before, after)).toEqual([
      '- title: "A"',
      "~ annotations.readOnlyHint: true became false",
      '+ inputSchema: {"type":"object"}',
    ]);
  });

  it("shows the part of a long text that differs, with what stands around it", () => {
    const before = `${"a".repeat(500)} reads a file ${"z".repeat(500)}`;
    const after = `${"a".repeat(500)} reads a file and sends it away ${"z".repeat(500)}`;
    const lines = describeTextChange("description", before, after);
    expect(lines).toHaveLength(3);
    expect(lines[2]).toContain("and sends it away");
    expect(lines.join("").length).toBeLessThan(400);
  });

  it("writes out what a terminal would act on or not show", () => {
    const hidden = "read\u001b[2K\u202e\u200b\u{e0041}file";
    const [, , is] = describeTextChange("description", "read file", hidden);
    for (const character of ["\u001b", "\u202e", "\u200b", "\u{e0041}"]) expect(is).not.toContain(character);
    expect(is).toContain("\\u{202e}");
    expect(is).toContain("\\u{e0041}");
  });

  it("says that a definition is new or gone, and nothing about equal ones", () => {
    expect(describeDefinitionChange(undefined, '{"name":"a"}')).toEqual(['+ definition: {"name":"a"}']);
    expect(describeDefinitionChange('{"name":"a"}', undefined)).toEqual(['- definition: {"name":"a"}']);
    expect(describeDefinitionChange('{"a":[1,{"b":2}]}', '{ "a": [1, {"b": 2}] }')).toEqual([]);
  });

  it("walks arrays and quotes member names that are no identifiers", () => {
    expect(describeDefinitionChange('{"a b":["x"]}', '{"a b":["y","z"]}')).toEqual([
      '~ ["a b"][0]',
      '    was "x"',
      '    is  "y"',
      '+ ["a b"][1]: "z"',
    ]);
  });

  it("sees a number that was only written differently, as the digest does", () => {
    expect(describeDefinitionChange('{"a":1}', '{"a":1.0}')).toEqual(["~ a: 1 became 1.0"]);
  });
});
