import type { JsonObject } from "@berth/jsonrpc-framing";
import type { JsonRpcError } from "../server/answer.js";
import type { InputRequest } from "../server/questions.js";
import { hasEnded, type TaskRecord } from "./record.js";

/** What can happen to a task. */
export type TaskStep =
  /** Keys have to be fresh (`freshKey`). */
  | { readonly kind: "ask"; readonly requests: Readonly<Record<string, InputRequest>> }
  | { readonly kind: "answer"; readonly keys: readonly string[] }
  | { readonly kind: "tell"; readonly statusMessage: string }
  | { readonly kind: "complete"; readonly result: JsonObject }
  | { readonly kind: "fail"; readonly error: JsonRpcError; readonly statusMessage: string }
  | { readonly kind: "cancel"; readonly statusMessage: string };

/** Longest `statusMessage`, in UTF-16 units; what is longer is cut. */
export const maxStatusMessage = 1_024;

/**
 * The task after a step; undefined when the step is not legal in its state, or changes nothing. Pure. The graph is the extension's (Task Status State
 * Diagram): working and input_required lead to each other and to the ends, the ends lead nowhere.
 */
export function nextRecord(record: TaskRecord, step: TaskStep, now: number): TaskRecord | undefined {
  if (hasEnded(record)) return undefined;
  const changed = { ...record, version: record.version + 1, updatedAt: Math.max(now, record.updatedAt) };
  switch (step.kind) {
    case "ask":
      return ask(changed, step.requests);
    case "answer":
      return answer(changed, step.keys);
    case "tell":
      return { ...changed, statusMessage: cut(step.statusMessage) };
    case "complete":
      return { ...changed, status: "completed", inputRequests: {}, statusMessage: undefined, result: step.result };
    case "fail":
      return { ...ended(changed, step.statusMessage), status: "failed", error: step.error };
    case "cancel":
      return { ...ended(changed, step.statusMessage), status: "cancelled" };
  }
}

/** A key that this task never used: the handler's own, or with a number behind it. `more` are taken as well. */
export function freshKey({ askedKeys }: TaskRecord, key: string, more: ReadonlyMap<string, unknown>): string {
  const isUsed = (candidate: string): boolean => askedKeys.includes(candidate) || more.has(candidate);
  if (!isUsed(key)) return key;
  for (let count = 2; ; count += 1) {
    if (!isUsed(`${key}-${count}`)) return `${key}-${count}`;
  }
}

function ask(record: TaskRecord, requests: Readonly<Record<string, InputRequest>>): TaskRecord | undefined {
  const keys = Object.keys(requests);
  if (keys.length === 0 || keys.some((key) => record.askedKeys.includes(key))) return undefined;
  return {
    ...record,
    status: "input_required",
    askedKeys: [...record.askedKeys, ...keys],
    inputRequests: { ...record.inputRequests, ...requests },
  };
}

function answer(record: TaskRecord, keys: readonly string[]): TaskRecord | undefined {
  const left = Object.entries(record.inputRequests).filter(([key]) => !keys.includes(key));
  if (left.length === Object.keys(record.inputRequests).length) return undefined;
  const status = left.length === 0 ? "working" : "input_required";
  return { ...record, status, inputRequests: Object.fromEntries(left) };
}

function ended(record: TaskRecord, statusMessage: string): TaskRecord {
  return { ...record, inputRequests: {}, statusMessage: cut(statusMessage) };
}

function cut(text: string): string {
  return text.slice(0, maxStatusMessage);
}
