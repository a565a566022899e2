import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMachineReport } from "../../src/doctor/machine-report.js";
import { duration, limitText, size, took } from "../../src/page/clock.js";
import { createCodeHistory } from "../../src/page/code-history.js";
import { displayForm } from "../../src/page/display-form.js";
import { createLineReader } from "../../src/page/line-reader.js";

describe("the page says", () => {
  it.each([
    [-5_000, "0 s"],
    [999, "0 s"],
    [12_345, "12 s"],
    [245_000, "4 min 05 s"],
    [3_600_000, "1 h"],
    [86_399_000, "23 h 59 min"],
    [90_061_000, "1 d 01 h"],
  ])("%i ms as %s", (ms, text) => expect(duration(ms)).toBe(text));

  it.each([
    [0.44, "0.4 ms"],
    [12.4, "12 ms"],
    [1_250, "1.25 s"],
    [61_000, "1 min 01 s"],
  ])("%d ms of work as %s", (ms, text) => expect(took(ms)).toBe(text));

  it.each([
    [0, "0 bytes"],
    [1_536, "1.5 KiB"],
    [1_073_741_824, "1 GiB"],
    [2 ** 60, "1048576 TiB"],
  ])("%d bytes as %s", (bytes, text) => expect(size(bytes)).toBe(text));

  it.each([
    ["memoryBytes", 1_073_741_824, "memory 1 GiB"],
    ["openFiles", 1_024, "open files 1024"],
    ["commandTimeoutMs", 300_000, "command timeout 5 min"],
  ])("the limit %s of %d as %s", (limit, value, text) => expect(limitText(limit, value)).toBe(text));
});

it("lines are the same however the text is cut", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.nat(40)), (texts, cuts) => {
      const lines = texts.map((text) => text.replaceAll("\n", "")).filter((text) => text !== "");
      let rest = lines.map((line) => `${line}\n`).join("");
      const read = createLineReader();
      const seen: string[] = [];
      for (const cut of cuts) {
        seen.push(...read(rest.slice(0, cut)));
        rest = rest.slice(cut);
      }
      expect([...seen, ...read(rest)]).toEqual(lines);
    }),
  );
});

describe("what was run before", () => {
  it("comes back backwards, and the draft at the end", () => {
    const history = createCodeHistory(2);
    for (const code of ["a", "b", "b", "c"]) history.add(code);
    expect([history.older("draft"), history.older("b"), history.older("b")]).toEqual(["c", "b", undefined]);
    expect([history.newer(), history.newer(), history.newer()]).toEqual(["c", "draft", undefined]);
  });
});

describe("a display", () => {
  it.each([
    { name: "a picture before its text", data: { "text/plain": "<Figure>", "image/png": "iVBO\nRw==" }, kind: "image" },
    { name: "an SVG before HTML", data: { "text/html": "<b>", "image/svg+xml": "<svg/>" }, kind: "image" },
    { name: "HTML before its text", data: { "text/plain": "x", "text/html": "<b>" }, kind: "page" },
    { name: "JSON before its text", data: { "text/plain": "x", "application/json": '{"a":1}' }, kind: "json" },
    { name: "text where a picture is none", data: { "text/plain": "x", "image/png": '"><script>' }, kind: "text" },
    { name: "text where JSON is none", data: { "text/plain": "x", "application/json": "{" }, kind: "text" },
    { name: "text where no form is known", data: { "application/x-own": "y" }, kind: "text" },
    { name: "text where there is nothing", data: {}, kind: "text" },
  ])("is $name", ({ data, kind }) => expect(displayForm(data).kind).toBe(kind));

  it("is always an address of a picture or no address, whatever code gives", () => {
    const types = fc.constantFrom(
      "image/png",
      "image/svg+xml",
      "image/jpeg",
      "text/plain",
      "text/html",
      "application/json",
    );
    fc.assert(
      fc.property(fc.dictionary(types, fc.string({ unit: "binary" })), (data) => {
        const form = displayForm(data);
        if (form.kind === "image") expect(form.source).toMatch(/^data:image\/(?:png|jpeg|svg\+xml)[;,][^"'<>\s]*$/);
      }),
    );
  });
});

describe("what is known of the machine", () => {
  it("is found once for all who ask, kept for ten minutes, and found again after a failure", async () => {
    let now = 0;
    let looks = 0;
    const report = createMachineReport(
      async () => {
        looks += 1;
        if (looks === 2) throw new Error("no");
        return [];
      },
      () => now,
    );
    await Promise.all([report.findings(), report.findings()]);
    now = 599_999;
    await report.findings();
    expect(looks).toBe(1);
    now = 600_000;
    await expect(report.findings()).rejects.toThrow("no");
    expect((await report.findings()).at).toBe(600_000);
    now = 5; // the clock was set back
    await report.findings();
    expect(looks).toBe(4);
    await report.close();
  });
});
