import type { TaskRecord } from "../../src/tasks.js";

export function record(taskId: string, more: Partial<TaskRecord> = {}): TaskRecord {
  const times = { createdAt: 1_000, updatedAt: 1_000, ttlMs: 60_000, pollIntervalMs: 500 };
  const base = { version: 1, owner: "ada", tool: "job", status: "working", askedKeys: [], inputRequests: {} } as const;
  return { taskId, ...base, ...times, ...more };
}
