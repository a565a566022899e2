import type { Outcome } from "@berth/code-sessions";
import { expect, it } from "vitest";
import { pictureBlocks } from "../../src/http/mcp/tool-results.js";
import { outcomeText } from "../../src/http/outcome-text.js";

const text = (value: string, bytes = value.length) => ({ text: value, bytes, truncated: bytes > value.length });
const plain: Outcome = {
  status: "ok",
  stdout: text(""),
  stderr: text(""),
  output: text(""),
  result: undefined,
  displays: [],
  displaysDropped: 0,
  fault: undefined,
  reason: undefined,
  durationMs: 1,
  cpuMs: 1,
  count: 1,
  spill: undefined,
};
const fault = { name: "ValueError", message: "no", traceback: "Traceback\nValueError: no" };
const shown = [
  { name: "nothing", outcome: {}, whole: "[Execution successful with no output]" },
  { name: "output and value", outcome: { output: text("a\n"), result: "3" }, whole: "a\n3" },
  {
    name: "displays between output and value, the value's own once",
    outcome: {
      output: text("a"),
      result: "3",
      displays: [
        { kind: "display", data: { "text/plain": "<b>" } },
        { kind: "display", data: { "image/png": "AA==" } },
        { kind: "result", data: { "text/plain": "3" } },
      ],
    },
    whole: "a<b>3",
  },
  {
    name: "what was cut, and where the rest is",
    outcome: { output: text("aa", 9), spill: "out.txt" },
    whole: "aa\n[output truncated by maxOutputBytes: 2 of 9 bytes; the whole output is in the file out.txt]\n",
  },
  { name: "an error", outcome: { status: "error", fault }, whole: `Error: Execution Error:\n${fault.traceback}` },
  {
    name: "an error after output",
    outcome: { status: "error", fault, output: text("a\n") },
    whole: `Error: Execution Error:\n${fault.traceback}\n\nOutput before the error:\na\n`,
  },
  {
    name: "a time that was over",
    outcome: { status: "timeout", reason: "1 s" },
    whole: "Error: Execution timed out. 1 s",
  },
  { name: "an interrupt", outcome: { status: "interrupted" }, whole: "Error: Execution interrupted." },
  {
    name: "a death",
    outcome: { status: "dead", reason: "exit 3" },
    whole: "Error: The Python process ended while the code ran. exit 3",
  },
] satisfies readonly { name: string; outcome: Partial<Outcome>; whole: string }[];

it.each(shown)("$name is told", ({ outcome, whole }) => {
  const told = outcomeText({ ...plain, ...outcome });
  expect(told.whole).toBe(whole);
  expect(told.ok).toBe(!whole.startsWith("Error"));
});

it("printed text that looks like an error is output of code that went well", () => {
  expect(outcomeText({ ...plain, output: text("Error: x") })).toMatchObject({ ok: true, shown: "Error: x", fault: "" });
});

it("pictures are shown to the model, each once, and not without end", () => {
  const png = { kind: "display", data: { "image/png": "AA==", "text/plain": "<Figure>" } } as const;
  expect(pictureBlocks({ ...plain, displays: [png] })).toEqual([
    { type: "image", data: "AA==", mimeType: "image/png" },
  ]);
  const lie = { kind: "display", data: { "image/png": "<script>" } } as const;
  expect(pictureBlocks({ ...plain, displays: [lie] })).toEqual([]);
  expect(pictureBlocks({ ...plain, displays: Array.from({ length: 20 }, () => png) })).toHaveLength(8);
});
