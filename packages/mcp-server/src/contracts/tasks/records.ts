import type { JsonObject } from "@berth/jsonrpc-framing";
import type { TaskRecord } from "../../tasks/record.js";

/** An id of the length and alphabet that servers give to tasks. */
export function idOf(name: string): string {
  return name.padEnd(32, "-");
}

// The year 2100: no store has a reason to forget such a task, and no clock is needed.
const createdAt = 4_102_444_800_000;

/** A task as a server makes it. `mark` tells who wrote it. */
export function recordOf(name: string, version = 1, mark = "first", more: Partial<TaskRecord> = {}): TaskRecord {
  const times = { createdAt, updatedAt: createdAt + version, ttlMs: 86_400_000, pollIntervalMs: 500 };
  const base = { taskId: idOf(name), version, owner: "ada", tool: mark, status: "working" } as const;
  return { ...base, ...times, askedKeys: [], inputRequests: {}, ...more };
}

/** Every state that a server stores, with what is easily lost: names that objects inherit, letters that encodings break, nulls and empty things. */
export function richRecords(): readonly TaskRecord[] {
  const result: JsonObject = JSON.parse(
    '{"__proto__":{"x":1},"constructor":null,"":[],"deep":[1,-1.5e300,null,"x",{"y":true,"z":{}}],"long":0.1}',
  );
  const text = "no \u0000 \u2028 \ud83d\ude00 \ud800 grüße \r\n \\ \" ' %s";
  return [
    recordOf("completed", 9, "x", { status: "completed", owner: "ada ü", result, statusMessage: undefined }),
    recordOf("failed", 2, "x", {
      status: "failed",
      statusMessage: text,
      error: { code: -32603, message: text, data: result },
    }),
    recordOf("cancelled", 3, "x", { status: "cancelled", statusMessage: "", askedKeys: ["a", "__proto__", "A"] }),
    recordOf("asking", 4, "x", {
      status: "input_required",
      askedKeys: ["b", "a"],
      inputRequests: { b: { method: "roots/list" }, a: { method: "elicitation/create", params: result } },
    }),
    recordOf("large", 2, "x", { status: "completed", result: { text: "é".repeat(100_000) } }),
  ];
}

/** For the steps of a failure: enough to follow it. */
export function shortRecord({ taskId, version, tool }: TaskRecord): string {
  return `${JSON.stringify(taskId)} version ${version} by ${JSON.stringify(tool).slice(0, 40)}`;
}

/** What clients may ask for. None is an id that a server gave out. */
export const hostileIds: readonly string[] = [
  "",
  ".",
  "..",
  "../escape",
  "a/b",
  "a\\b",
  "/etc/passwd",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "%",
  "*",
  "?",
  "a--_",
  "_".repeat(32),
  "%".repeat(32),
  "[a-z]*",
  "' OR '1'='1",
  "a\u0000b",
  "a\nb",
  "CON",
  "\u00e9",
  "e\u0301",
  "\ud800",
  "😀",
  "a".repeat(10_000),
];
