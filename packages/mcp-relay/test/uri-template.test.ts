import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorMs } from "../../../fixtures/processor-time.js";
import { compileTemplate } from "../src/uri-template.js";

describe("template matcher", () => {
  it.each([
    { template: "file:///{path}", uri: "file:///a.txt", matches: true },
    { template: "file:///{path}", uri: "file:///a/b.txt", matches: false },
    { template: "file:///{+path}", uri: "file:///a/b.txt", matches: true },
    { template: "file:///{path}", uri: "file:///", matches: false },
    { template: "db://{table}/{id}", uri: "db://users/7", matches: true },
    { template: "db://{table}/{id}", uri: "db://users", matches: false },
    { template: "x{/seg*}", uri: "x/a/b/c", matches: true },
    { template: "x{/seg}", uri: "x/a", matches: true },
    { template: "x{.ext}", uri: "x.json", matches: true },
    { template: "search{?q,limit}", uri: "search?q=a&limit=3", matches: true },
    { template: "search{?q}", uri: "search", matches: true },
    { template: "plain", uri: "plain", matches: true },
    { template: "plain", uri: "plainer", matches: false },
    { template: "a{x}b{y}c", uri: "a1b2c", matches: true },
    { template: "a{x}b{y}c", uri: "abc", matches: false },
  ])("says $matches for $template and $uri", ({ template, uri, matches }) => {
    expect(compileTemplate(template)?.(uri)).toBe(matches);
  });

  it("matches what a template was filled with", () => {
    const value = fc.stringMatching(/^[A-Za-z0-9._~-]{1,20}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.stringMatching(/^[a-z:/]{0,5}$/), value), { maxLength: 8 }), (parts) => {
        const template = parts.map(([literal], index) => `${literal}{v${index}}`).join("");
        const uri = parts.map(([literal, filled]) => literal + filled).join("");
        expect(compileTemplate(template)?.(uri)).toBe(true);
      }),
    );
  });

  it("refuses what is no template, or too long to be matched in bounded time", () => {
    expect(compileTemplate("a{b")).toBeUndefined();
    expect(compileTemplate("x".repeat(513))).toBeUndefined();
    expect(compileTemplate("{+x}")?.("y".repeat(4_097))).toBe(false);
  });

  it("takes time in proportion to the length of the address on the template that defeats backtracking", () => {
    const match = compileTemplate("{a*}{b*}{c*}{d*}{e*}{f*}{g*}{h*}!");
    const timeOf = (length: number): number => {
      const uri = "a,".repeat(length / 2);
      return processorMs(() => {
        for (let run = 0; run < 20; run += 1) expect(match?.(uri)).toBe(false);
      });
    };
    timeOf(1_000);
    const [short, long] = [timeOf(1_000), timeOf(4_000)];
    expect(long / short).toBeLessThan(16);
  });
});
