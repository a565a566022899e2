import type { JsonObject } from "@berth/jsonrpc-framing";
import { toJson } from "../json.js";
import type { JsonRpcError } from "../server/answer.js";
import type { InputRequest } from "../server/questions.js";

/** States of a task (Tasks extension 2026-07-28, Task Status). The last three are ends. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A task as a store keeps it. Plain JSON: a store may write it with `JSON.stringify`. Never changed; a change is a new record with the next version. */
export interface TaskRecord {
  /** 192 random bits, 32 characters of base64url. */
  readonly taskId: string;
  /** 1 when the task is created, then one more with each change. */
  readonly version: number;
  /** `principalId` of who called the tool. Nobody else may know that the task exists. */
  readonly owner: string;
  /** Name of the tool that was called. */
  readonly tool: string;
  readonly status: TaskStatus;
  /** What the handler told last, or how the task ended. At most 1_024 characters. */
  readonly statusMessage?: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. Never goes back. */
  readonly updatedAt: number;
  /** Milliseconds from `createdAt` for which the task can be read. Then all of it is removed. */
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  /** Each key under which the client was ever asked: none is used twice. */
  readonly askedKeys: readonly string[];
  /** Questions without an answer yet. Not empty exactly when the status is `input_required`. */
  readonly inputRequests: Readonly<Record<string, InputRequest>>;
  /** Present exactly when the status is `completed`. */
  readonly result?: JsonObject | undefined;
  /** Present exactly when the status is `failed`. */
  readonly error?: JsonRpcError | undefined;
}

export function hasEnded({ status }: TaskRecord): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

export function expiresAt({ createdAt, ttlMs }: TaskRecord): number {
  return createdAt + ttlMs;
}

/** What the client is told when the task is created: its state without what `tasks/get` brings (Task Creation). */
export function toSeed(record: TaskRecord): JsonObject {
  const { taskId, status, statusMessage, createdAt, updatedAt, ttlMs, pollIntervalMs } = record;
  return {
    taskId,
    status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs,
  };
}

/** A `DetailedTask`: what `tasks/get` and `notifications/tasks` tell. */
export function toDetailed(record: TaskRecord): JsonObject {
  const { status, inputRequests, result, error } = record;
  const seed = toSeed(record);
  if (status === "completed" && result !== undefined) return { ...seed, result };
  if (status === "failed" && error !== undefined) return { ...seed, error: toJson(error) };
  if (status === "input_required") return { ...seed, inputRequests: toJson(inputRequests) };
  return seed;
}
