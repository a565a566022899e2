import { describe, expect, it } from "vitest";
import {
  type Judge,
  judgeCached,
  judgeHook,
  judgeToolResult,
  judgeTools,
  judgeType,
} from "../../src/check/conversation/judge-results.js";
import { hooksFault } from "../../src/instance/hook-names.js";

const cached = { resultType: "complete", ttlMs: 0, cacheScope: "public" };
const tool = { name: "echo", inputSchema: { type: "object" } };
const tools = (...list: readonly object[]): object => ({ ...cached, tools: list });
const names = '"public" nor "private"';

interface Row {
  readonly judge: Judge;
  readonly result: object;
  readonly wrong: string | undefined;
}

const rows: readonly Row[] = [
  { judge: judgeCached, result: cached, wrong: undefined },
  { judge: judgeCached, result: { ...cached, cacheScope: "private", ttlMs: 60_000 }, wrong: undefined },
  { judge: judgeCached, result: { ...cached, ttlMs: -60_000 }, wrong: "ttlMs is -60000, and no whole number from 0" },
  { judge: judgeCached, result: { ...cached, ttlMs: 0.5 }, wrong: "ttlMs is 0.5, and no whole number from 0" },
  { judge: judgeCached, result: { ...cached, ttlMs: "0" }, wrong: "ttlMs is no number" },
  {
    judge: judgeCached,
    result: { ...cached, cacheScope: "session" },
    wrong: `cacheScope is "session", neither ${names}`,
  },
  {
    judge: judgeCached,
    result: { ...cached, cacheScope: undefined },
    wrong: `cacheScope is nothing, neither ${names}`,
  },
  { judge: judgeCached, result: { ...cached, resultType: "input_required" }, wrong: 'resultType is "input_required"' },
  { judge: judgeType, result: { resultType: "final" }, wrong: 'resultType is "final", not "complete"' },
  { judge: judgeType, result: {}, wrong: "resultType is missing" },
  { judge: judgeTools, result: tools(tool, { ...tool, name: "A.b-c_9" }), wrong: undefined },
  { judge: judgeTools, result: { ...cached, tools: {} }, wrong: "tools is no array" },
  { judge: judgeTools, result: tools(tool, tool), wrong: 'tools[1] is named "echo", as one before it' },
  {
    judge: judgeTools,
    result: tools({ ...tool, name: "../../x\n\u001b[31m" }),
    wrong: 'tools[0] is named "../../x\\n\\u001b[31m": a name is 1 to 128 of A-Z a-z 0-9 _ - .',
  },
  { judge: judgeTools, result: tools({ name: "echo" }), wrong: "tools[0] has no name, or no inputSchema" },
  { judge: judgeTools, result: tools({ ...tool, inputSchema: [] }), wrong: "tools[0] has no name, or no inputSchema" },
  {
    judge: judgeTools,
    result: tools({ ...tool, inputSchema: { type: "array" } }),
    wrong: 'tools[0] has an inputSchema whose type is not "object"',
  },
  { judge: judgeToolResult, result: { resultType: "complete", content: [] }, wrong: undefined },
  { judge: judgeToolResult, result: { resultType: "input_required" }, wrong: undefined },
  { judge: judgeToolResult, result: { resultType: "complete" }, wrong: "content is no array" },
  {
    judge: judgeToolResult,
    result: { resultType: "final", content: [] },
    wrong: 'resultType is "final", not "complete"',
  },
  {
    judge: judgeHook,
    result: { continue_processing: true, violation: null, modified_payload: null },
    wrong: undefined,
  },
  {
    judge: judgeHook,
    result: { continue_processing: false, violation: { reason: "r", description: "d", code: "C", details: {} } },
    wrong: undefined,
  },
  { judge: judgeHook, result: {}, wrong: undefined },
  {
    judge: judgeHook,
    result: { continue_processing: "no", violation: 5 },
    wrong: "continue_processing is neither true nor false",
  },
  { judge: judgeHook, result: { continue_processing: false, violation: 5 }, wrong: "violation is no object" },
  {
    judge: judgeHook,
    result: { continue_processing: false, violation: { reason: "r", description: "d" } },
    wrong: "violation.code is no text",
  },
  {
    judge: judgeHook,
    result: { continue_processing: true, modified_payload: [] },
    wrong: "modified_payload is no object",
  },
];

describe("a result", () => {
  it.each(rows)("is judged: $judge.name of $result", ({ judge, result, wrong }) => {
    expect(judge(JSON.parse(JSON.stringify(result)))).toBe(wrong);
  });
});

describe("the hooks that a plugin names", () => {
  it.each([
    { hooks: undefined, fault: undefined },
    { hooks: [], fault: undefined },
    { hooks: ["tool_pre_invoke", "my.hook-2"], fault: undefined },
    { hooks: ["a", "a"], fault: "that names a twice" },
    { hooks: ["x\ny"], fault: "whose [0] is no plain name" },
    { hooks: [""], fault: "whose [0] is no plain name" },
    { hooks: ["a".repeat(129)], fault: "whose [0] is no plain name" },
    { hooks: [1], fault: "whose [0] is no plain name" },
    { hooks: "a", fault: "that is no array" },
    { hooks: null, fault: "that is no array" },
    { hooks: Array.from({ length: 65 }, (_, n) => `h${n}`), fault: "of 65 names; at most 64" },
  ])("are plain, each once, and few: $hooks", ({ hooks, fault }) => {
    expect(hooksFault(hooks)).toBe(fault);
  });
});
